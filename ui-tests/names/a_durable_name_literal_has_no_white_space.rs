use tramline::durable;

fn main() {
    let _ = durable!("the invoices");
}
