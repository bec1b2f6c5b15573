//! The same for a PostgreSQL database.
#![cfg(target_os = "linux")]

mod sales;
mod tables_common;

use bosket_testkit::server::Server;

#[test]
fn a_postgres_database() {
    let Some(server) = Server::start("trust") else { return };
    let counts = sales::counts(sales::rows());
    server.sql("postgres", "CREATE DATABASE sales");
    let [customers, orders, lines] = counts;
    // The server makes the rows itself: the same as those of the other tests.
    server.sql(
        "sales",
        &format!(
            "CREATE TABLE customer AS SELECT 'C' || lpad(i::text, 9, '0') AS id, 'town ' || i % 500 AS town \
             FROM generate_series(0, {}::bigint) i; \
             CREATE TABLE orders AS SELECT i::text AS id, 'C' || lpad((i * 7919 % {customers})::text, 9, '0') AS customer, \
             (i % 365)::text AS day, (i % 997)::text AS total FROM generate_series(0, {}::bigint) i; \
             CREATE TABLE line AS SELECT (i * 104729 % {orders})::text AS \"order\", 'article ' || i % 1657 AS article, \
             (i % 9)::text AS amount, (i % 4999)::text AS price FROM generate_series(0, {}::bigint) i",
            customers - 1,
            orders - 1,
            lines - 1
        ),
    );
    let text = sales::policy(&format!("format = \"postgres\"\nurl = \"{}\"", server.url("sales")), |_| {
        String::new()
    });
    let policy = tables_common::policy(std::path::Path::new(""), &text);
    sales::at_most_twice("PostgreSQL", || tables_common::read_whole(&policy).map(|(data, _)| data));
}
