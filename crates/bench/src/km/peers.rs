//! What other tools were measured at, on another machine.

use super::Measured;
use super::search::Outcome;

struct Peer {
    dataset: &'static str,
    m: usize,
    tool: &'static str,
    seconds: f64,
    /// NCP in percent.
    ncp: f64,
}

const fn peer(dataset: &'static str, m: usize, tool: &'static str, seconds: f64, ncp: f64) -> Peer {
    Peer { dataset, m, tool, seconds, ncp }
}

/// k = 5 and a balanced hierarchy of fan-out 5.
const PEERS: &[Peer] = &[
    peer("WebView-1", 2, "ARX, set branch", 3.4, 4.48),
    peer("WebView-1", 2, "Amnesia", 6.6, 4.00),
    peer("WebView-1", 3, "ARX, set branch", 4.1, 10.81),
    peer("WebView-1", 3, "Amnesia", 10.0, 10.81),
    peer("WebView-2", 2, "ARX, set branch", 13.1, 2.03),
    peer("WebView-2", 2, "Amnesia", 68.7, 2.06),
    peer("WebView-2", 3, "ARX, set branch", 17.1, 3.73),
    peer("WebView-2", 3, "Amnesia", 116.9, 3.73),
];

/// Ours beside theirs, for what was measured here.
pub(super) fn print(measured: &[Measured]) {
    println!("peers, measured elsewhere (ARX's set branch took up to 2.5 GB), k = 5, fan-out 5");
    println!(
        "  whole: seconds of computing from reading the file to the end, which for ours is the verification"
    );
    println!("  {:10} {:4} {:20} {:>9} {:>9} {:>9}", "", "", "", "search", "whole", "NCP");
    let mut last = None;
    for peer in PEERS {
        let case = (peer.dataset, peer.m);
        if last.replace(case) != Some(case) {
            for ours in measured.iter().filter(|r| (r.dataset, r.m) == case) {
                let Outcome::Sound { whole, .. } = ours.run.outcome else {
                    continue;
                };
                println!(
                    "  {:10} m={}  {:20} {:>7.3} s {whole:>7.3} s {:>7.2} %",
                    ours.dataset,
                    ours.m,
                    format!("{} (ours, here)", ours.algorithm),
                    ours.run.seconds,
                    ours.run.ncp * 100.0
                );
            }
        }
        println!(
            "  {:10} m={}  {:20} {:>9} {:>7.1} s {:>7.2} %",
            peer.dataset, peer.m, peer.tool, "", peer.seconds, peer.ncp
        );
    }
}
