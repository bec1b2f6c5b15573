//! Keys of several columns, people with several rows, lookups, references, moved rows.

use std::fs;

use crate::tables_common::*;
use bosket_model::{Builder, ClassId, Kind};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

fn published(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join("out").join(name)).expect("published")
}

const SALES: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "customer"
path = "customer.csv"
key = ["branch", "no"]
[[source.table]]
name = "orders"
path = "orders.csv"
key = ["branch", "no", "seq"]
parent = "customer"
foreign_key = ["branch", "no"]
[[source.table]]
name = "line"
path = "line.csv"
key = ["o_branch", "o_no", "o_seq", "line"]
parent = "orders"
foreign_key = ["o_branch", "o_no", "o_seq"]
[publish]
path = "out"
[[attribute]]
path = "customer.town"
role = "quasi"
[[attribute]]
path = "orders.day"
role = "quasi"
[[attribute]]
path = "line.article"
role = "quasi"
"#;

fn sales() -> TempDir {
    folder(&[
        ("customer.csv", "branch,no,town\nN,1,Ulm\nN,11,Bonn\nS,1,Ulm\n"),
        ("orders.csv", "branch,no,seq,day\nN,1,1,mon\nN,1,2,tue\nS,1,1,mon\nN,11,1,fri\n"),
        (
            "line.csv",
            "o_branch,o_no,o_seq,line,article\nN,1,2,1,nut\nS,1,1,1,nut\nS,1,1,2,bolt\nN,11,1,1,nut\n",
        ),
    ])
}

#[test]
fn keys_of_several_columns_join_and_stay_keys() {
    let dir = sales();
    let file = policy(dir.path(), SALES);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!(
        canonical(&data),
        [
            "{town=Bonn orders{day=fri line{article=nut}}}",
            "{town=Ulm orders{day=mon line{article=bolt} line{article=nut}}}",
            "{town=Ulm orders{day=mon} orders{day=tue line{article=nut}}}",
        ]
    );
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    assert_eq!(published(&dir, "customer.csv"), "branch,no,town\n1,1,Bonn\n2,2,Ulm\n3,3,Ulm\n");
    let orders = "branch,no,seq,day\n1,1,1,fri\n2,2,2,mon\n2,2,3,tue\n3,3,4,mon\n";
    assert_eq!(published(&dir, "orders.csv").lines().count(), orders.lines().count());
    assert!(published(&dir, "line.csv").contains("1,1,1,1,nut\n"));
}

#[test]
fn parts_of_keys_do_not_run_into_each_other() {
    let dir = sales();
    fs::write(dir.path().join("orders.csv"), "branch,no,seq,day\nN1,1,1,mon\n").expect("a file");
    fs::write(dir.path().join("line.csv"), "o_branch,o_no,o_seq,line,article\n").expect("a file");
    assert!(refused(&policy(dir.path(), SALES)).contains("belongs to nobody"));
}

#[test]
fn an_attribute_in_a_key_is_published_and_the_rest_of_the_key_numbers_the_rows() {
    let dir = sales();
    let text = SALES.to_owned() + &attribute("orders.seq", "quasi") + &attribute("line.line", "insensitive");
    let file = policy(dir.path(), &text);
    let (data, form) = read_input(&file).expect("tables");
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    // The key of an order has no column left for a number of its own, and lines refer to it.
    assert!(published(&dir, "orders.csv").starts_with("branch,no,seq,day,orders_row\n1,1,1,fri,1\n"));
    assert!(
        published(&dir, "line.csv")
            .starts_with("o_branch,o_no,o_seq,line,article,orders_row\n1,1,1,1,nut,1\n")
    );
}

const COURSES: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "info"
path = "info.csv"
key = ["id", "module"]
person = "id"
[[source.table]]
name = "registration"
path = "registration.csv"
parent = "info"
foreign_key = ["id", "module"]
[publish]
path = "out"
[[attribute]]
path = "info.module"
role = "quasi"
[[attribute]]
path = "info.result"
role = "sensitive"
[[attribute]]
path = "registration.day"
role = "quasi"
"#;

fn courses() -> TempDir {
    folder(&[
        ("info.csv", "id,module,result\n7,AAA,pass\n9,AAA,fail\n7,BBB,pass\n"),
        ("registration.csv", "id,module,day\n7,AAA,3\n7,BBB,4\n9,AAA,4\n"),
    ])
}

#[test]
fn rows_of_one_person_are_one_record() {
    let dir = courses();
    let file = policy(dir.path(), COURSES);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!(
        canonical(&data),
        [
            "{info{module=AAA result=fail registration{day=4}}}",
            "{info{module=AAA result=pass registration{day=3}} info{module=BBB result=pass registration{day=4}}}",
        ]
    );
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    assert_eq!(
        published(&dir, "info.csv"),
        "id,module,result,info_row\n1,AAA,fail,1\n2,AAA,pass,2\n2,BBB,pass,3\n"
    );
    assert_eq!(
        published(&dir, "registration.csv"),
        "id,module,day,info_row\n1,AAA,4,1\n2,AAA,3,2\n2,BBB,4,3\n"
    );
    let without =
        COURSES.replace("person = \"id\"\n", "").replace("key = [\"id\", \"module\"]", "key = \"id\"");
    let without = without.replace("foreign_key = [\"id\", \"module\"]", "foreign_key = \"id\"");
    assert!(
        refused(&policy(dir.path(), &without)).contains("say with `person` that one person has several rows")
    );
}

#[test]
fn a_person_of_whom_no_row_is_left_is_still_a_person() {
    let dir = courses();
    let file = policy(dir.path(), COURSES);
    let (_, form) = read_input(&file).expect("tables");
    let mut b = Builder::new();
    let keys = |name: &str| vec![name.to_owned()];
    b.begin_record();
    b.end_record().expect("nothing twice");
    b.begin_record();
    // Moved up to the person.
    let moved = b.class(ClassId::ROOT, &keys("registration"));
    let day = b.attribute(moved, &keys("day"));
    b.open(moved);
    b.set(day, Kind::Text, "3-4");
    b.close();
    b.end_record().expect("nothing twice");
    let data = b.finish();
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), ["{registration{day=3-4}}", "{}"]);
    assert_eq!(published(&dir, "info.csv"), "id,module,result,info_row\n1,,,\n2,,,\n");
    assert_eq!(published(&dir, "registration.csv"), "id,module,day,info_row,person_id\n,,3-4,,2\n");
}

const SHOP: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "customer"
path = "customer.csv"
key = "id"
[[source.table]]
name = "line"
path = "line.csv"
parent = "customer"
foreign_key = "customer"
[[source.lookup]]
name = "track"
path = "track.csv"
key = "id"
column = "line.track"
value = ["genre", "year"]
[[source.lookup]]
name = "genre"
path = "genre.csv"
key = "id"
column = "line.genre"
value = "name"
as = "genre"
[publish]
path = "out"
[[attribute]]
path = "customer.town"
role = "quasi"
[[attribute]]
path = "line.genre"
role = "quasi"
[[attribute]]
path = "line.year"
role = "quasi"
[[attribute]]
path = "line.shelf"
role = "key"
"#;

fn shop() -> TempDir {
    folder(&[
        ("customer.csv", "id,town\n1,Ulm\n2,Bonn\n"),
        ("line.csv", "customer,track,shelf\n1,10,x\n1,11,y\n2,,x\n"),
        ("track.csv", "id,title,genre,year\n10,So What,5,1959\n11,Blue,6,1971\n"),
        ("genre.csv", "id,name\n5,Jazz\n6,Folk\n"),
    ])
}

#[test]
fn a_column_is_replaced_by_what_it_refers_to_and_a_reference_is_emptied() {
    let dir = shop();
    let file = policy(dir.path(), SHOP);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!(
        canonical(&data),
        ["{town=Bonn line{}}", "{town=Ulm line{genre=Folk year=1971} line{genre=Jazz year=1959}}"]
    );
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    assert_eq!(published(&dir, "line.csv"), "customer,genre,year,shelf\n1,,,\n2,Folk,1971,\n2,Jazz,1959,\n");
    assert!(!dir.path().join("out/track.csv").exists(), "what columns are looked up in is not published");
    let line = published(&dir, "line.csv").replace("Folk,1971,", "Folk,1971,y");
    fs::write(dir.path().join("out/line.csv"), line).expect("a file");
    let said =
        read_published(&file, &dir.path().join("out")).map(|_| ()).expect_err("a reference").to_string();
    // Nothing but the person's number in every row may stand there.
    assert!(said.contains("row 1 of `line` is not where what it says puts it"), "{said}");
}

#[test]
fn a_lookup_that_finds_nothing_or_two_rows() {
    let dir = shop();
    fs::write(dir.path().join("track.csv"), "id,title,genre,year\n10,So What,5,1959\n10,Blue,6,1971\n")
        .expect("a file");
    let said = refused(&policy(dir.path(), SHOP));
    assert!(said.contains("track.csv:3: error: another row of `track` has the same key"), "{said}");
    assert!(
        said.contains("line.csv:3: error: a row of `line` refers to a row that `track` does not have"),
        "{said}"
    );
    let said = refused(&policy(dir.path(), &SHOP.replace("value = \"name\"", "value = \"nmae\"")));
    assert!(said.contains("has no column `nmae` (help: did you mean `name`?)"), "{said}");
}

#[test]
fn an_added_column_takes_the_room_of_an_emptied_reference_but_of_nothing_else() {
    let text = |role: &str| {
        let moved = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "customer"
path = "customer.csv"
key = "id"
[[source.table]]
name = "orders"
path = "orders.csv"
key = "id"
parent = "customer"
foreign_key = "c"
[[source.table]]
name = "line"
path = "line.csv"
parent = "orders"
foreign_key = "o"
[publish]
path = "out"
[[attribute]]
path = "orders.day"
role = "quasi"
[[attribute]]
path = "line.article"
role = "quasi"
"#;
        moved.to_owned() + &attribute("line.customer_id", role)
    };
    let dir = folder(&[
        ("customer.csv", "id\n1\n"),
        ("orders.csv", "id,c,day\n5,1,mon\n"),
        ("line.csv", "o,customer_id,article\n5,1,nut\n"),
    ]);
    let mut b = Builder::new();
    let keys = |name: &str| vec![name.to_owned()];
    let orders = b.class(ClassId::ROOT, &keys("orders"));
    let day = b.attribute(orders, &keys("day"));
    let line = b.class(orders, &keys("line"));
    let article = b.attribute(line, &keys("article"));
    let moved = b.class(ClassId::ROOT, &keys("line"));
    let moved_article = b.attribute(moved, &keys("article"));
    b.begin_record();
    b.open(orders);
    b.set(day, Kind::Text, "mon");
    b.open(line);
    b.set(article, Kind::Text, "bolt");
    b.close();
    b.close();
    b.open(moved);
    b.set(moved_article, Kind::Text, "nut");
    b.close();
    b.end_record().expect("nothing twice");
    let data = b.finish();

    let file = policy(dir.path(), &text("key"));
    let (_, form) = read_input(&file).expect("tables");
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), ["{line{article=nut} orders{day=mon line{article=bolt}}}"]);
    assert_eq!(published(&dir, "line.csv"), "o,customer_id,article\n1,,bolt\n,1,nut\n");

    let file = policy(dir.path(), &text("quasi").replace("\"out\"", "\"out2\""));
    let (_, form) = read_input(&file).expect("tables");
    let refused = publish(&file, &form, &data).expect_err("no room").to_string();
    assert!(refused.contains("needs an added column `customer_id`"), "{refused}");
    assert!(!dir.path().join("out2").exists());
}

#[test]
fn several_tables_may_be_grouped_by_the_same_people() {
    let dir = folder(&[
        ("visit.csv", "patient,day\n7,mon\n9,tue\n7,fri\n"),
        ("lab.csv", "who,test\n7,blood\n7,urine\n"),
    ]);
    let text = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "visit"
path = "visit.csv"
person = "patient"
[[source.table]]
name = "lab"
path = "lab.csv"
person = "who"
[publish]
path = "out"
[[attribute]]
path = "visit.day"
role = "quasi"
[[attribute]]
path = "lab.test"
role = "quasi"
"#;
    let file = policy(dir.path(), text);
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!(
        canonical(&data),
        ["{lab{test=blood} lab{test=urine} visit{day=fri} visit{day=mon}}", "{visit{day=tue}}"]
    );
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    assert_eq!(published(&dir, "lab.csv"), "who,test\n1,blood\n1,urine\n");
    fs::write(dir.path().join("lab.csv"), "who,test\n8,blood\n").expect("a file");
    assert!(refused(&file).contains("belongs to nobody: no row of `person` has its foreign key"));
}

/// Students of the Open University: a student takes several modules; what was handed in is known by the assessment,
/// which says the module.
#[test]
fn open_university() {
    let Some(source) = crate::common::shared("rel-oulad/studentInfo.csv.gz") else { return };
    let source = source.parent().expect("a folder").to_owned();
    let dir = TempDir::new().expect("a folder");
    let text = r#"version = 1
undeclared = "drop"
[source]
format = "csv"
[[source.table]]
name = "studentInfo"
path = "studentInfo.csv.gz"
key = ["id_student", "code_module", "code_presentation"]
person = "id_student"
[[source.table]]
name = "studentRegistration"
path = "studentRegistration.csv.gz"
parent = "studentInfo"
foreign_key = ["id_student", "code_module", "code_presentation"]
[[source.table]]
name = "studentAssessment"
path = "studentAssessment.csv.gz"
parent = "studentInfo"
foreign_key = ["id_student", "code_module", "code_presentation"]
[[source.lookup]]
name = "assessments"
path = "assessments.csv"
key = "id_assessment"
column = "studentAssessment.id_assessment"
value = ["code_module", "code_presentation", "assessment_type"]
[publish]
path = "OUT"
[[attribute]]
path = "studentInfo.code_module"
role = "quasi"
[[attribute]]
path = "studentInfo.region"
role = "quasi"
[[attribute]]
path = "studentInfo.final_result"
role = "sensitive"
[[attribute]]
path = "studentAssessment.assessment_type"
role = "quasi"
[[attribute]]
path = "studentAssessment.score"
role = "sensitive"
"#;
    let out = dir.path().join("out");
    let file = policy(&source, &text.replace("OUT", &out.to_string_lossy()));
    let (data, form) = read_input(&file).expect("tables");
    assert_eq!((data.len(), data.vertex_count()), (28_785, 28_785 + 2 * 32_593 + 173_912));
    let again = publish(&file, &form, &data).expect("published");
    assert_eq!(canonical(&again), canonical(&data));
    let (stranger, _) = read_published(&file, &out).expect("readable");
    assert_eq!(stranger.vertex_count(), data.vertex_count());
}
