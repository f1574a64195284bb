import path from 'node:path';
import { rehearsalSpeed } from '../src/agent/rehearsal/speed.ts';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { jsonLine } from '../src/cli/json-line.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { Logger } from '../src/core/logger.ts';
import type { OpenPull } from '../src/core/pull/pull-request.ts';
import { shellArgument } from '../src/core/text/shell-argument.ts';
import { workflowContext } from '../src/daemon/adapters.ts';
import { createDaemon, type Daemon } from '../src/daemon/daemon.ts';
import { runDaemon } from '../src/daemon/run-daemon.ts';
import { openApi } from '../src/daemon/services/open-api.ts';
import { listenForStop } from '../src/daemon/stop-on-signal.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import { openWorkplace, type Workplace } from '../src/daemon/workplace.ts';
import type { Orchestrator } from '../src/orchestrator/orchestrator.ts';
import { createLogger } from '../src/telemetry/create-logger.ts';
import type { Board } from '../src/tracker/board/board.ts';
import { loadWorkflow } from '../src/workflow/load-workflow.ts';
import { changesOf, openPulls, personName, showChanges } from './changes.ts';
import { fileIssues, personsPart } from './demo-issues.ts';
import { type IssueRow, issueRows } from './issue-rows.ts';
import { openLines } from './lines.ts';
import { type DemoFolder, openDemoFolder, placeFlags, putAside } from './make-demo.ts';
import { type PlayedPerson, playPerson } from './play-person.ts';
import { type AskingIssue, answerInPlace, askingIssues, showQuestions } from './questions.ts';
import { quietRemark } from './quiet-remark.ts';

interface DemoFlags {
  readonly json?: boolean;
  readonly once?: boolean;
  readonly dir?: string;
}

/** `baton demo`: the real daemon with its own board on a scratch repository, with the scripted agent. */
export async function demo(flags: DemoFlags, given: Surroundings): Promise<number> {
  const surroundings = flags.once ? atSpeed(given) : given;
  surroundings.closeInherited();
  using signals = listenForStop(surroundings);
  const { folder, keptOther } = await openDemoFolder(flags.dir, surroundings);
  const json = flags.json === true;
  if (keptOther !== null && !json)
    surroundings.stdout.write(`The demo in this folder was from another version of Baton. It is now in ${keptOther}\n`);
  const { logger, close } = createLogger({ clock: systemClock, file: { logsRoot: folder.root }, terminal: null });
  try {
    const { server } = loadWorkflow(folder.workflow, workflowContext(surroundings, folder.stateDir)).settings;
    await using api = await openApi({ server, port: undefined, stateDir: folder.stateDir }, logger, surroundings);
    const { workflow: workflowPath, stateDir } = folder;
    await using daemon = await createDaemon(
      { workflowPath, stateDir, trial: null, role: 'daemon', logger, api },
      surroundings,
    );
    const { orchestrator } = daemon;
    const board = daemon.board();
    await fileIssues(board);
    const { batonPath } = surroundings;
    const askHere = (identifier: string): string =>
      `${[batonPath, 'ask', 'show', identifier].map(shellArgument).join(' ')} ${placeFlags(folder)}`;
    const rows = async (): Promise<IssueRow[]> => issueRows(await allIssues(board), orchestrator.read(), askHere);
    if ((await rows()).every(({ status }) => status === 'done')) {
      await daemon[Symbol.asyncDispose]();
      return await startAgain(flags, folder, surroundings);
    }
    if (!json) surroundings.stdout.write(introduction(folder, flags.once === true, api.address.url, batonPath));
    const isRunning = (id: string): boolean => orchestrator.read().running.some(({ issue }) => issue.id === id);
    await using workplace = await openWorkplace(folder, surroundings);
    const demoDecides = (identifier: string): boolean =>
      personsPart(identifier) === 'merge' && person.whyRefused(identifier) === null;
    const remark = flags.once ? {} : { remark: quietRemark(demoDecides) };
    const lines = openLines({ rows, json, output: surroundings.stdout, clock: systemClock, ...remark });
    const { say } = lines;
    const asking = (): AskingIssue[] => (flags.once ? askingIssues(orchestrator.read()) : []);
    const answer = (asked: AskingIssue): Promise<void> =>
      answerInPlace(asked, { workplace, say, name: personName }, surroundings);
    const open = (): Promise<ReadonlyMap<string, OpenPull>> => openPulls(workplace);
    const person = playPerson({
      ...{ board, logger, clock: systemClock, say, isRunning, open, asking, answer },
      ...changesOf(folder, surroundings),
      isWatched: !flags.once,
    });
    const showing = { folder, batonPath, say, logger };
    const show = flags.once ? () => {} : showQuestions({ workplace, ...showing });
    const showReviews = flags.once
      ? () => {}
      : showChanges({ board, open, url: api.address.url, project: workplace.project.name, ...showing });
    const unwatch = orchestrator.onChange(() => {
      show(orchestrator.read());
      showReviews();
      person.check();
      lines.show();
    });
    // The reader of the output has gone (`baton demo | head`).
    surroundings.stdout.once('error', () => void orchestrator.stop());
    if (flags.once) stopWhenIdle({ orchestrator, board, person, asking, logger });
    await runDaemon(daemon, signals);
    unwatch();
    await person.idle();
    await lines.close();
    const last = (await rows()).map((row) => ({ ...row, detail: person.whyRefused(row.identifier) ?? row.detail }));
    const outOfQuota = await countOutOfQuota(workplace, orchestrator.read().startedAt);
    surroundings.stdout.write(summary({ rows: last, daemon, folder, json, outOfQuota, batonPath }));
    return flags.once && last.some(({ status }) => status !== 'done') ? exitCodes.error : exitCodes.ok;
  } finally {
    await close();
  }
}

/** No one watches: the agents wait a tenth of the time in their scripts, unless the environment says otherwise. */
function atSpeed(surroundings: Surroundings): Surroundings {
  return { ...surroundings, env: { [rehearsalSpeed]: '10', ...surroundings.env } };
}

/** A demo whose issues are all done has nothing to show, so this starts a new one. */
async function startAgain(flags: DemoFlags, folder: DemoFolder, surroundings: Surroundings): Promise<number> {
  const kept = await putAside(folder);
  if (!flags.json) surroundings.stdout.write(`The last demo is finished. It is now in ${kept}\n`);
  return demo(flags, surroundings);
}

/** In the order they were filed. */
async function allIssues(board: Board): Promise<Awaited<ReturnType<Board['list']>>> {
  const found = await board.list({ statuses: [], labels: [], limit: 1_000 });
  return found.toSorted(
    (left, right) => left.createdAt - right.createdAt || compareNumbers(left.identifier, right.identifier),
  );
}

function compareNumbers(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true });
}

interface IdleWatch {
  readonly orchestrator: Orchestrator;
  readonly board: Board;
  readonly person: PlayedPerson;
  readonly asking: () => readonly AskingIssue[];
  readonly logger: Logger;
}

/**
 * Stops the orchestrator when nothing is left to do: nothing runs, nothing is due, nothing that can be merged or
 * answered waits, and two whole ticks since then have found nothing to start. Two, because the one in progress may have
 * read the board before the last run ended.
 */
function stopWhenIdle({ orchestrator, board, person, asking, logger }: IdleWatch): void {
  let busyAtTick = 0;
  let checking = false;
  const check = async (): Promise<void> => {
    await person.idle();
    const { running, retrying, waitingQuota, polling } = orchestrator.read();
    const inReview = await board.list({ statuses: ['review'], labels: [], limit: 100 });
    const canMerge = inReview.some(({ id }) => !person.hasRefused(id));
    const questions = asking();
    const canAnswer = questions.some(({ key }) => !person.hasRefused(key));
    // An agent whose question the demo could not answer would wait for a long time.
    const inVain = new Set(questions.filter(({ key }) => person.hasRefused(key)).map(({ issue }) => issue.id));
    const atWork = [...running, ...retrying, ...waitingQuota].some(({ issue }) => !inVain.has(issue.id));
    if (atWork || canMerge || canAnswer) busyAtTick = polling.ticks;
    else if (!polling.pollCheckInProgress && polling.ticks >= busyAtTick + 2) await orchestrator.stop();
  };
  orchestrator.onChange(() => {
    if (checking) return;
    checking = true;
    void check()
      .catch((error) => logger.error('demo_check_failed', { error }))
      .finally(() => {
        checking = false;
      });
  });
}

function introduction(folder: DemoFolder, isOnce: boolean, url: string, batonPath: string): string {
  const top = `${shellArgument(batonPath)} top ${placeFlags(folder)}`;
  return [
    'Baton demo: ten issues on the board, three agents at a time. The agent is "rehearsal", a script and not an AI:',
    'it really edits files, runs tests and commits, but it asks no AI model and sends nothing over the network.',
    ...(isOnce
      ? [
          'The demo also plays the person who reviews: it merges changes, sends the one of WORDS-6 back with a comment, and',
          'answers questions.',
        ]
      : [
          'Two changes wait for you: approve and merge the one of WORDS-3, and send the one of WORDS-6 back with a comment.',
          'The demo merges the others in place of a person. One agent will ask you a question. WORDS-1 works for two minutes,',
          'and you can send it messages. Ctrl-C stops the demo.',
        ]),
    `Everything is in ${folder.root}`,
    `The dashboard is at ${url}`,
    ...(isOnce ? [] : [`The same in another terminal: ${top}`]),
    '',
  ].join('\n');
}

/** Runs of this demo that ended because the quota of their account was used up. */
async function countOutOfQuota({ store, project }: Workplace, startedAt: number): Promise<number> {
  const runs = await store.runs.list(project.id, { limit: 1_000 });
  return runs.filter((run) => run.startedAt >= startedAt && run.finish?.errorCode === 'agent_quota_exhausted').length;
}

interface Ending {
  readonly rows: readonly IssueRow[];
  readonly daemon: Daemon;
  readonly folder: DemoFolder;
  readonly json: boolean;
  readonly outOfQuota: number;
  /** How the reader starts Baton. */
  readonly batonPath: string;
}

function summary({ rows, daemon, folder, json, outOfQuota, batonPath }: Ending): string {
  const { totals } = daemon.orchestrator.read();
  const done = rows.filter(({ status }) => status === 'done').length;
  const { failed = 0, timed_out: timedOut = 0, stalled = 0 } = totals.runsByEnd;
  const bad = failed + timedOut + stalled - outOfQuota;
  if (json) {
    const figures = { issues: rows.length, done, runs: totals.runs, failed: bad, out_of_quota: outOfQuota };
    return jsonLine({ summary: { ...figures, folder: folder.root } });
  }
  const left = rows.filter(({ status }) => status !== 'done');
  return [
    '',
    `${done} of ${rows.length} issues done in ${totals.runs} runs; ${runsText(bad)} failed, ${runsText(outOfQuota)} had no quota.`,
    ...left.map(({ identifier, status, detail }) => `  ${identifier} is not done: ${detail || status}`),
    ...(left.length === 0 ? [] : ['The next `baton demo` continues from here.']),
    'To see the commits of the agents, their runs, and the log:',
    `  git -C ${shellArgument(folder.project)} log --oneline --graph main`,
    `  ${shellArgument(batonPath)} runs list ${placeFlags(folder)}`,
    `  less ${shellArgument(path.join(folder.root, 'log', 'baton.log'))}`,
    '',
  ].join('\n');
}

function runsText(count: number): string {
  return count === 1 ? '1 run' : `${count} runs`;
}
