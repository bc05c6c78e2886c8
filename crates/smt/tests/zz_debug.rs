mod common;
use common::*;
use pleach_expr::*;
use pleach_smt::*;
#[test]
fn dbg(){
  for seed in 0..40 {
    let mut terms = Terms::new(64);
    let u = small_unknowns(&mut terms);
    let mut rng = Rng(seed);
    let mut solver = assemble(SolverConfig { check_evidence: true, ..SolverConfig::default() });
    let pool: Vec<_> = (0..60).map(|_| random_truth(&mut rng, &mut terms, &u, 3)).collect();
    for i in 0..40 {
        let n = 1 + rng.below(5);
        let constraints: Vec<_> = (0..n).map(|_| pool[rng.below(pool.len() as u64) as usize]).collect();
        let answer = check(&mut *solver, &mut terms, &constraints);
        if answer.is_unknown() {
            println!("seed {seed} query {i}: {answer:?}");
            for &c in &sorted(constraints.clone()) { println!("  {} {} {:?}", c.0, terms.show(c), terms.support(c)); }
            for (name,cfg) in [("norewrite",SolverConfig{use_rewrite:false,..Default::default()}),("onlyrewrite",SolverConfig{use_rewrite:true,..SolverConfig::bare(BackendKind::Bitwuzla)}),("full",SolverConfig::default())] {
                let mut s = assemble(SolverConfig{check_evidence:true,..cfg.clone()});
                println!("   {name}: {:?}", check(&mut *s,&mut terms,&constraints).verdict());
                let mut s = assemble(cfg);
                println!("   {name}: {:?}", check(&mut *s,&mut terms,&constraints));
            }
        }
    }
  }
}
