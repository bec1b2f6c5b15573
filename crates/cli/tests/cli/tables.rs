//! Linked tables from the outside: CSV folders, SQLite and PostgreSQL, anonymized, verified, inspected.

use std::fs;

use bosket_testkit::server::{PASSWORD, Server};

use crate::util::Dir;

fn customers(dir: &Dir) {
    dir.run(&["generate", "tpch", "--customers", "400", "--out", "d"]).exits(0);
}

#[test]
fn a_folder_of_tables_is_published_and_verified() {
    let dir = Dir::new();
    customers(&dir);
    let policy = "d/tables/policy-csv.toml";
    dir.run(&["anonymize", policy, "--set", "privacy.k=5"])
        .exits(0)
        .prints(&["published 400 records to d/tables/published", "customer.nation"]);
    assert!(dir.text("d/tables/published/orders.csv").starts_with("orderkey,custkey,price,date\n1,"));
    dir.run(&[
        "verify",
        "d/tables/published",
        "--policy",
        policy,
        "--set",
        "privacy.k=5",
        "--against",
        "d/tables",
    ])
    .exits(0)
    .prints(&["HOLDS", "TRUE"]);
    dir.certified("d/tables/published", "d/tables/published.certificate.json");
    dir.run(&["anonymize", policy]).exits(3).says(&["it exists", "--force"]);
    dir.run(&["anonymize", policy, "--set", "publish.path=.", "--force"])
        .exits(2)
        .says(&["would overwrite", "customer.csv"]);

    let orders = dir.text("d/tables/published/orders.csv");
    let broken = orders.replacen("\n1,", "\n1,99", 1);
    dir.write("d/tables/published/orders.csv", broken);
    dir.run(&["verify", "d/tables/published", "--policy", policy])
        .exits(3)
        .says(&["orders.csv:2", "no row of `customer` has its foreign key"]);
}

#[test]
fn a_database_gives_the_same_publication_as_its_tables() {
    let dir = Dir::new();
    customers(&dir);
    for policy in ["d/tables/policy-csv.toml", "d/tables/policy-sqlite.toml"] {
        dir.run(&["anonymize", policy, "--set", "publish.mapping=private.csv", "--force"]).exits(0);
    }
    let policy = "d/tables/policy-sqlite.toml";
    dir.run(&["verify", "d/tables/published.db", "--policy", policy, "--against", "d/tables/tpch.db"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
    dir.certified("d/tables/published.db", "d/tables/published.db.certificate.json");
    dir.run(&["inspect", "d/tables/published.db", "--json"])
        .exits(0)
        .prints(&["\"guessed\": false", "\"records\": 400"]);
    dir.run(&["hierarchy", "check", "--policy", policy, "--path", "items.brand"]).exits(0);
}

#[test]
fn inspect_guesses_keys_and_says_so() {
    let dir = Dir::new();
    dir.write("shop/customers.csv", "id,name,town\n1,Ann,Ulm\n2,Bob,Bonn\n3,Cy,Ulm\n")
        .write("shop/orders.csv", "order_id,customer_id,day\n10,1,mon\n11,2,tue\n12,1,mon\n")
        .write("shop/items.csv", "order_id,article\n10,nut\n10,bolt\n12,nut\n");
    dir.run(&["inspect", "shop", "--draft", "policy.toml"]).exits(0).prints(&[
        "3 linked tables (keys guessed from names and values; nobody has declared them)",
        "customers (id): the person table",
        "orders (order_id): below customers by customer_id",
        "items (no key): below orders by order_id",
        "customers.name",
        "items.article",
    ]);
    dir.run(&["policy", "check", "policy.toml"]).exits(0);
    let draft = dir.text("policy.toml");
    assert!(draft.contains("[[source.table]]\nname        = \"items\"\npath        = \"shop/items.csv\"\nparent      = \"orders\""), "{draft}");
    dir.run(&["anonymize", "policy.toml", "--dry-run", "--set", "privacy.k=2"])
        .exits(0)
        .prints(&["3 records in tables customers, orders, items", "write published"]);
    dir.run(&["inspect", "shop", "--record", "order"]).exits(2).says(&["did you mean `orders`?"]);
}

#[test]
fn people_who_appear_in_several_rows_are_grouped_not_mistaken_for_courses() {
    let dir = Dir::new();
    dir.write("uni/courses.csv", "code_module,code_term,length\nA,1,20\nA,2,20\nB,1,30\n")
        .write(
            "uni/studentInfo.csv",
            "code_module,code_term,id_student,region,result\nA,1,7,Ulm,ok\nA,2,7,Ulm,no\nB,1,8,Bonn,ok\nA,1,8,Bonn,no\n",
        )
        .write("uni/enrolled.csv", "code_module,code_term,id_student,day\nA,1,7,3\nB,1,8,4\n")
        .write("uni/exams.csv", "id_exam,kind,paid\n1,oral,1.5\n2,text,2.5\n")
        .write("uni/scores.csv", "id_exam,id_student,score\n1,7,50\n2,7,60\n1,8,70\n");
    dir.run(&["inspect", "uni", "--draft", "policy.toml"]).exits(0).prints(&[
        "csv: 2 records, 4 studentInfo[], 3 scores[], 2 studentInfo[].enrolled[]",
        "studentInfo (code_module, code_term, id_student): the person table",
        "scores (no key): the same people, by id_student",
        "enrolled (no key): below studentInfo by code_module, code_term, id_student",
        "people have several rows in `studentInfo`: they are grouped by id_student",
        "not below studentInfo, so not read: courses, exams",
        "Looked up in exams: its kind stands here in place of a number; one # before the line in `lookup` switches that off.",
        "exams also has paid.",
    ]);
    let draft = dir.text("policy.toml");
    assert!(
        draft.contains("key    = [\"code_module\", \"code_term\", \"id_student\"]\nperson = \"id_student\""),
        "{draft}"
    );
    dir.write("policy.toml", draft.replace("\"undecided\"", "\"nothing\""));
    dir.run(&["policy", "check", "policy.toml"]).exits(0);
}

#[test]
fn what_could_not_be_decided_is_said() {
    let dir = Dir::new();
    // A measure that ends in -id names nothing, even if no value comes twice.
    dir.write("survey/homes.csv", "h030,rooms\n10,1\n20,1\n")
        .write("survey/work.csv", "hoursPaid,sector\n1.5,a\n2.25,a\n3.5,b\n");
    dir.run(&["inspect", "survey"]).exits(0).prints(&[
        "work (no key): the person table",
        "not decided: what names a row of work; each row is taken for one person",
        "not decided: whether any other table belongs to work",
        "in homes no value comes twice in h030",
    ]);
}

#[test]
fn a_table_with_two_parents_and_no_choice_made() {
    let dir = Dir::new();
    dir.write("clinic/patients.csv", "patient_id,age\n1,20\n2,30\n")
        .write("clinic/visits.csv", "visit_id,patient_id,day\n10,1,mon\n11,2,tue\n")
        .write("clinic/stays.csv", "stay_id,patient_id,ward\n20,1,A\n21,2,B\n")
        .write("clinic/bills.csv", "visit_id,stay_id,sum\n10,20,5\n11,21,6\n11,21,7\n");
    // It ended with an error that only the user could put right.
    let note = "`bills` could hang below `stays` by `stay_id` or below `visits` by `visit_id`";
    dir.run(&["inspect", "clinic", "--draft", "p.toml"]).exits(0).prints(&[
        note,
        "it hangs below `stays` by `stay_id`, the first by name: --parent bills.visit_id chooses otherwise",
        "bills (no key): below stays by stay_id",
    ]);
    let draft = dir.text("p.toml");
    let comment: String =
        draft.lines().filter_map(|l| l.strip_prefix("# ")).fold(String::new(), |t, l| t + l + " ");
    assert!(comment.contains(note) && comment.contains("--parent bills.visit_id chooses"), "{draft}");
    dir.run(&["policy", "check", "p.toml"]).exits(0);
    // The shorter way to the person counts.
    dir.write("clinic/days.csv", "day_id,visit_id,ward\n30,10,A\n31,11,B\n")
        .write("clinic/bills.csv", "day_id,stay_id,sum\n30,20,5\n31,21,6\n31,21,7\n");
    dir.run(&["inspect", "clinic"])
        .exits(0)
        .prints(&["it hangs below `stays` by `stay_id`, which is nearest to the person"]);
    dir.write("clinic/bills.csv", "visit_id,stay_id,sum\n10,20,5\n11,21,6\n11,21,7\n");
    dir.run(&["inspect", "clinic", "--parent", "bills.visit_id"])
        .exits(0)
        .prints(&["bills (no key): below visits by visit_id", "refers to stays; published empty"]);
    dir.run(&["inspect", "clinic", "--parent", "bills.sum"])
        .exits(2)
        .says(&["`bills.sum` is no foreign key"]);
    // In a policy a table has one place.
    let policy = "version = 1\n[source]\nformat = \"csv\"\n\
                  [[source.table]]\nname = \"patients\"\npath = \"p.csv\"\nkey = \"patient_id\"\n\
                  [[source.table]]\nname = \"bills\"\npath = \"b.csv\"\nparent = [\"visits\", \"stays\"]\nforeign_key = \"x\"\n";
    dir.write("policy.toml", policy);
    dir.run(&["policy", "check", "policy.toml"]).exits(2).says(&["source.table.parent"]);
}

#[test]
fn postgres_with_a_password_from_the_usual_places() {
    let Some(server) = Server::start("scram-sha-256") else { return };
    let dir = Dir::new();
    customers(&dir);
    server.sql("postgres", "CREATE DATABASE shop");
    server.sql(
        "shop",
        "CREATE TABLE customer (custkey int PRIMARY KEY, nation text); \
         CREATE TABLE orders (orderkey int PRIMARY KEY, custkey int REFERENCES customer, price text, date text); \
         CREATE TABLE items (orderkey int REFERENCES orders, quantity text, manufacturer text, brand text)",
    );
    for table in ["customer", "orders", "items"] {
        let text = dir.text(&format!("d/tables/{table}.csv"));
        let rows: Vec<String> =
            text.lines().skip(1).map(|l| format!("('{}')", l.replace(',', "','"))).collect();
        server.sql("shop", &format!("INSERT INTO {table} VALUES {}", rows.join(",")));
    }
    let url = server.url("shop");
    let text = dir.text("d/tables/policy-sqlite.toml");
    let text = text.replace(
        "format = \"sqlite\"\npath = \"tpch.db\"",
        &format!("format = \"postgres\"\nurl = \"{url}\""),
    );
    let text = text.replace("path = \"published.db\"", &format!("url = \"{url}\"\nschema = \"open\""));
    dir.write("d/tables/policy-postgres.toml", text);
    let policy = "d/tables/policy-postgres.toml";
    let run = |args: &[&str], key: &str, value: &str| {
        let mut command = dir.command(args);
        command.env_remove("PGPASSWORD").env("PGPASSFILE", "none").env(key, value);
        let output = command.output().expect("the command runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, _, said) = run(&["anonymize", policy], "PGPASSWORD", "wrong");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("does not let this user in") && !said.contains("wrong"), "{said}");
    let (code, out, said) = run(&["anonymize", policy], "PGPASSWORD", PASSWORD);
    assert_eq!(code, Some(0), "{out}\n{said}");
    assert!(out.contains("published 400 records"), "{out}");
    assert_eq!(server.sql("shop", "SELECT count(*) FROM open.customer"), ["400"]);

    let escaped = PASSWORD.replace('\\', "\\\\").replace(':', "\\:");
    dir.write("pass", format!("# who\nlocalhost:{}:shop:bosket:{escaped}\n", server.port()));
    let verify = ["verify", url.as_str(), "--policy", policy, "--against", url.as_str()];
    let pass = dir.path("pass").to_string_lossy().into_owned();
    let (code, _, said) = run(&verify, "PGPASSFILE", &pass);
    assert_eq!(code, Some(3), "a file that others can read is not used: {said}");
    fs::set_permissions(dir.path("pass"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("permissions");
    let (code, out, said) = run(&verify, "PGPASSFILE", &pass);
    assert_eq!(code, Some(0), "{out}\n{said}");
    assert!(out.contains("HOLDS") && out.contains("TRUE"), "{out}");
    let certified =
        ["verify", url.as_str(), "--certificate", "d/tables/policy-postgres.certificate.json", "--json"];
    let (code, out, said) = run(&certified, "PGPASSWORD", PASSWORD);
    assert_eq!(code, Some(0), "{out}\n{said}");
    let certificate = dir.text("d/tables/policy-postgres.certificate.json");
    assert!(!certificate.contains(&url) && !certificate.contains("shop"), "{certificate}");
    server.sql("shop", "UPDATE open.orders SET price = price || ' ' WHERE orderkey = 3");
    let (code, out, said) = run(&certified, "PGPASSWORD", PASSWORD);
    assert_eq!(code, Some(1), "{out}\n{said}");
    assert!(out.contains("\"table orders was changed\"") && !out.contains("table items"), "{out}");
    server.sql("shop", "DROP TABLE open.items");
    let (code, out, said) = run(&certified, "PGPASSWORD", PASSWORD);
    assert_eq!(code, Some(1), "{out}\n{said}");
    assert!(out.contains("\"table items is missing\""), "{out}");
    let (code, out, said) = run(&["inspect", &url], "PGPASSWORD", PASSWORD);
    assert_eq!(code, Some(0), "{said}");
    assert!(out.contains("orders (orderkey): below customer by custkey"), "{out}");
}
