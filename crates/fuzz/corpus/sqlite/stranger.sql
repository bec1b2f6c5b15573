CREATE TABLE student (sid INTEGER PRIMARY KEY, age INTEGER);
CREATE TABLE takes (scid TEXT PRIMARY KEY, sid INTEGER REFERENCES student, course VARCHAR(20), grade NUMERIC(3,1));
CREATE TABLE book (scid TEXT REFERENCES takes, title);
INSERT INTO student VALUES (70, 20), (10, 21), (5, NULL);
INSERT INTO takes VALUES ('a', 10, 'db', 1.0), ('b', 70, 'os', 2.5), ('c', 10, 'os', NULL);
INSERT INTO book VALUES ('a', 'Codd'), ('a', 1984), ('b', 'Tanenbaum');
PRAGMA foreign_keys = OFF;
INSERT INTO takes VALUES ('z', 99, 'db', 1);
