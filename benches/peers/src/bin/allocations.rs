//! What one request allocates, each way. A program of its own, since counting slows every allocation down.

use allocation_counter::measure;
use peers::requests::{Asker, SEVERAL, Way};
use tokio::runtime::Builder;

const REQUESTS: u64 = 3_200;

fn main() -> Result<(), std::io::Error> {
    println!("allocations per request, and their bytes: one thread, 1 at a time and {SEVERAL} at a time");
    let runtime = Builder::new_current_thread().enable_time().build()?;
    for way in Way::ALL {
        let asker = runtime.block_on(Asker::start(way));
        let each = [1, SEVERAL].map(|requesters| {
            let ask = || runtime.block_on(asker.ask(requesters, REQUESTS));
            // Warms up.
            ask();
            let counted = measure(ask);
            let per_request = |count: u64| count as f64 / REQUESTS as f64;
            format!("{:>6.2} {:>6.0} B", per_request(counted.count_total), per_request(counted.bytes_total))
        });
        println!("  {:<16} {}   {}", way.name(), each[0], each[1]);
    }
    Ok(())
}
