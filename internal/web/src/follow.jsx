// What is recorded so far of a job that goes on, asked for again from time to time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Following } from "./data.js";
import { seconds } from "./format.js";

const leastPause = 2000; // ms from an answer to the next question
const pauseTimes = 4; // or so many times as long as the answer took

const clock = (text) => {
  const at = new Date(text);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
};

// Pause ends all updates of a job's views, and begins them again.
export function Pause({ pausing: { stopped, toggle } }) {
  return (
    <button type="button" aria-pressed={stopped} onClick={toggle} title={stopped ? "follow the job again" : "freeze the view"}>
      {stopped ? "go on" : "pause"}
    </button>
  );
}

// Follow has the views in it ask again when all that they asked for was answered, and says
// of when it is, unless updates are paused: pausing is { stopped, toggle }.
export function Follow({ pausing, children }) {
  const [turn, setTurn] = useState(0);
  const [shown, setShown] = useState({}); // at, error, pause of the last answer
  const { stopped } = pausing;
  const open = useRef(0); // questions without an answer
  const noted = useRef();
  noted.current = (note) => {
    if (note.asked) open.current += note.asked;
    else setShown((was) => ({ at: note.at ?? was.at, error: note.error, pause: Math.max(leastPause, pauseTimes * note.took), turn }));
  };
  useEffect(() => {
    if (stopped || shown.turn !== turn) return;
    const next = () => {
      if (open.current > 0 || document.hidden) timer = setTimeout(next, leastPause / 4);
      else setTurn((n) => n + 1);
    };
    let timer = setTimeout(next, shown.pause);
    return () => clearTimeout(timer);
  }, [shown, turn, stopped]);
  const following = useMemo(() => ({ turn, noted: (note) => noted.current(note) }), [turn]);
  return (
    <Following.Provider value={following}>
      <p class="note so-far" data-turn={turn}>
        <b>Recorded so far{shown.at ? `, at ${clock(shown.at)}` : ""}</b>{" "}
        <Pause pausing={pausing} />{" "}
        {shown.error ? `not up to date: ${shown.error.message}` : stopped ? "paused" : shown.pause ? `again ${seconds(shown.pause / 1000).replace(/\.\d+/, "")} after each answer` : ""}
      </p>
      {children}
    </Following.Provider>
  );
}
