// Prints how fast Baton is: `npm run bench` all parts in turn, `npm run bench -- drain` only those named, `--markdown` as
// the table of docs/performance.md. Times are not judged. If something did not happen at all, the exit code is 1.
import { benchClaude } from './claude.ts';
import { benchCodex } from './codex.ts';
import { benchCounts } from './counts.ts';
import { benchDecision } from './decision.ts';
import { benchDrain } from './drain.ts';
import { benchEvents } from './events.ts';
import { benchIsolation } from './isolation.ts';
import { benchLargeBoard, benchPhasedBoard } from './large-board.ts';
import { benchListeners } from './listeners.ts';
import { benchOutside } from './outside.ts';
import { benchReaction } from './reaction.ts';
import { asMarkdown, asText, type Figure, machine } from './report.ts';
import { benchResponsiveness } from './responsiveness.ts';
import { benchRestart } from './restart.ts';
import { benchReview } from './review.ts';
import { benchSessions } from './sessions.ts';
import { benchStore } from './store.ts';
import { benchWorkspaces } from './workspaces.ts';

const parts: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  outside: benchOutside,
  counts: benchCounts,
  drain: benchDrain,
  decision: benchDecision,
  board: benchLargeBoard,
  phases: benchPhasedBoard,
  sessions: benchSessions,
  restart: benchRestart,
  responsiveness: benchResponsiveness,
  reaction: benchReaction,
  workspaces: benchWorkspaces,
  review: benchReview,
  codex: benchCodex,
  claude: benchClaude,
  events: benchEvents,
  listeners: benchListeners,
  isolation: benchIsolation,
  store: benchStore,
};

const args = process.argv.slice(2);
const named = args.filter((each) => each !== '--markdown');
const isMarkdown = named.length < args.length;
const unknown = named.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(', ')}; there are: ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}

// All files are removed at the exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const facts = machine();
if (!isMarkdown) console.log(facts);
const all: Figure[] = [];
for (const [name, bench] of Object.entries(parts)) {
  if (named.length > 0 && !named.includes(name)) continue;
  // The store prints its figures itself; docs/store.md has them.
  if (isMarkdown && name === 'store') continue;
  const began = performance.now();
  try {
    const figures = await bench();
    all.push(...figures);
    if (!isMarkdown && figures.length > 0) console.log(asText(figures));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  console.error(`${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s`);
}
if (isMarkdown) console.log(`${asMarkdown(all)}\n\n${facts} at the start, ${machine().split(', ').at(-1)} at the end.`);
