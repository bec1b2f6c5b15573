CREATE TABLE student (sid INTEGER PRIMARY KEY, age INTEGER);
CREATE TABLE takes (scid TEXT PRIMARY KEY, sid INTEGER REFERENCES student, course VARCHAR(20), grade NUMERIC(3,1));
CREATE TABLE book (scid TEXT REFERENCES takes, title);
INSERT INTO student VALUES (1, x'00ff'), (2, 'text'), (3, 1e999);
