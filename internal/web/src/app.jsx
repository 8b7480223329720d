// The page: which view is shown, and what is around it.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { onlyRun } from "./data.js";
import { Help, listen } from "./keys.jsx";
import { link, useRoute } from "./route.js";
import { toggleTheme } from "./theme.js";
import { Run } from "./run.jsx";
import { Fleet } from "./views/fleet.jsx";
import { Runs } from "./views/runs.jsx";
import "./style.css";

function App() {
  const { path, query } = useRoute();
  const [help, setHelp] = useState(false);
  useEffect(() => listen({ help: setHelp }), []);
  const id = path[0] === "runs" ? path[1] : onlyRun;
  useEffect(() => {
    document.title = id ? `${id} – efg` : "efg";
    scrollTo(0, 0);
  }, [id, path[2]]);
  return (
    <>
      <header class="top">
        {onlyRun ? <span class="brand">efg</span> : <a class="brand" href={link([])} title="all runs (g r)">efg</a>}
        {id && <h1 class="crumb" title={id}>{id}</h1>}
        <span class="gap" />
        <button type="button" class="plain" onClick={toggleTheme} title="light or dark (shift D)" aria-label="light or dark">◐</button>
        <button type="button" class="plain" onClick={() => setHelp(true)} title="keys (?)" aria-label="keys">?</button>
      </header>
      <main>{id ? <Run key={id} id={id} tab={path[2]} query={query} /> : path[0] === "fleet" ? <Fleet query={query} /> : <Runs query={query} />}</main>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

render(<App />, document.getElementById("app"));
