//! `pleach view`: the page of a run, served on loopback, with what needs the engine: the state at any node.
//!
//! Only this machine is served, and only requests that name it: a page of someone else cannot ask through a name of
//! its own that it points to this address. Nothing is changed by a request.

use crate::path::{self, Paths};
use crate::state_view::StateView;
use axum::Router;
use axum::extract::{Path as UrlPath, Request, State as Shared};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clap::Args;
use pleach_command::{CliError, Code};
use pleach_present::{Run, page};
use pleach_report::{RunInfo, TreeReader};
use pleach_session::{Session, SessionConfig};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

#[derive(Args, Debug)]
pub struct ViewArgs {
    /// The run's directory; the run may still be under way
    pub run: PathBuf,
    /// Port on this machine; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

/// What the flags of a run's command say.
pub type Configure = fn(&RunInfo) -> Result<SessionConfig, CliError>;

/// A request to the engine: the state at a node, as JSON.
type NodeRequest = (u32, oneshot::Sender<Result<String, String>>);

struct Server {
    run: PathBuf,
    port: u16,
    engine: mpsc::Sender<NodeRequest>,
}

pub fn run(args: ViewArgs, configure: Configure) -> Result<Code, CliError> {
    let system = |what| move |why| CliError::System { what, why };
    let run = std::path::absolute(&args.run).map_err(system("find the run"))?;
    let info = Run::open(&run)?.info;
    // As the command of the run was started: its files are relative to that.
    let _ = std::env::set_current_dir(&info.directory);
    // An interrupt ends the server, also once an engine watches for signals.
    signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 0, Arc::new(AtomicBool::new(true)))
        .map_err(system("watch for signals"))?;
    let (engine, requests) = mpsc::channel();
    let place = run.clone();
    std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || answer(&place, &info, configure, &requests))
        .map_err(system("start a thread"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(system("serve"))?;
    runtime.block_on(serve(run, args.port, engine)).map_err(system("serve"))?;
    Ok(Code::Fine)
}

async fn serve(run: PathBuf, port: u16, engine: mpsc::Sender<NodeRequest>) -> std::io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    let port = listener.local_addr()?.port();
    println!("http://127.0.0.1:{port}/ shows {}. Ctrl-C ends it.", run.display());
    let server = Arc::new(Server { run, port, engine });
    let routes = Router::new()
        .route("/", get(whole_page))
        .route("/api/run", get(summary))
        .route("/api/data", get(data))
        .route("/api/node/{id}", get(node))
        .layer(middleware::from_fn_with_state(server.clone(), for_this_machine))
        .with_state(server);
    axum::serve(listener, routes).await
}

/// Requests must name this machine.
async fn for_this_machine(Shared(server): Shared<Arc<Server>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", server.port));
    if names.iter().any(|name| name == host) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "only requests to 127.0.0.1 are answered\n").into_response()
    }
}

async fn whole_page(Shared(server): Shared<Arc<Server>>) -> Response {
    match Run::open(&server.run) {
        Ok(run) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page::render_served(&run)).into_response(),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why.to_string()).into_response(),
    }
}

async fn summary(Shared(server): Shared<Arc<Server>>) -> Response {
    match Run::open(&server.run) {
        Ok(run) => json(
            serde_json::json!({
                "nodes": run.tree.nodes.len(),
                "tests": run.tests.len(),
                "errors": run.summary.errors.len(),
                "paths": run.samples.last().map_or(0, |s| s.paths),
                "finished": run.dir.result_text().is_some(),
            })
            .to_string(),
        ),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why.to_string()).into_response(),
    }
}

async fn data(Shared(server): Shared<Arc<Server>>) -> Response {
    match Run::open(&server.run) {
        Ok(run) => json(page::data_of(&run).to_string()),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why.to_string()).into_response(),
    }
}

async fn node(Shared(server): Shared<Arc<Server>>, UrlPath(id): UrlPath<String>) -> Response {
    let Ok(id) = id.parse() else { return (StatusCode::BAD_REQUEST, "a node is a number\n").into_response() };
    let (sender, receiver) = oneshot::channel();
    let sent = server.engine.send((id, sender)).is_ok();
    match receiver.await {
        Ok(Ok(text)) if sent => json(text),
        Ok(Err(why)) => {
            let body = serde_json::json!({ "problem": why }).to_string();
            (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "the engine has ended\n").into_response(),
    }
}

fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// What the engine needs, made at the first request.
struct Loaded {
    session: Session,
    paths: Paths,
}

/// The engine's thread: one request after the other.
fn answer(run: &Path, info: &RunInfo, configure: Configure, requests: &mpsc::Receiver<NodeRequest>) {
    let mut loaded: Option<Loaded> = None;
    let mut tree = (TreeReader::default(), BTreeMap::new());
    for (node, sender) in requests {
        // A run that is under way grows.
        if !tree.0.nodes.contains_key(&node)
            && let Ok((read, _)) = TreeReader::open_damaged(&run.join("tree.bin"))
        {
            let children = path::children(&read);
            tree = (read, children);
        }
        let found = path::choices(&tree.0, &tree.1, node).and_then(|choices| {
            let loaded = match &mut loaded {
                Some(loaded) => loaded,
                none => none.insert(load(info, configure).map_err(|why| why.to_string())?),
            };
            let followed = loaded.paths.follow(&choices)?;
            let view = StateView::new(loaded.paths.machine(), &followed, &loaded.session.directory);
            serde_json::to_string(&view).map_err(|why| why.to_string())
        });
        let _ = sender.send(found);
    }
}

fn load(info: &RunInfo, configure: Configure) -> Result<Loaded, CliError> {
    let session = Session::load(configure(info)?)?;
    let paths = Paths::new(&session, None)?;
    Ok(Loaded { session, paths })
}
