use tramline::responder;

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn price() -> u64 {
    250
}

fn main() {
    let _ = price;
}
