import path from 'node:path';
import { rehearsalSpeed } from '../src/agent/rehearsal/speed.ts';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { jsonLine } from '../src/cli/json-line.ts';
import { commandsHere } from '../src/cli/place-flags.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { Logger } from '../src/core/logger.ts';
import type { OpenPull } from '../src/core/pull/open-pull.ts';
import { shellArgument } from '../src/core/text/shell-argument.ts';
import { workflowContext } from '../src/daemon/adapters.ts';
import { createDaemon } from '../src/daemon/daemon.ts';
import { runDaemon } from '../src/daemon/run-daemon.ts';
import { openApi } from '../src/daemon/services/open-api.ts';
import { listenForStop } from '../src/daemon/stop-on-signal.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import { openWorkplace, type Workplace } from '../src/daemon/workplace.ts';
import type { Orchestrator } from '../src/orchestrator/orchestrator.ts';
import type { RunRecord } from '../src/store/tables/runs.ts';
import { createLogger } from '../src/telemetry/create-logger.ts';
import type { Board } from '../src/tracker/board/board.ts';
import { loadWorkflow } from '../src/workflow/load-workflow.ts';
import { changesOf, openPulls, personName, showChanges } from './changes.ts';
import { fileIssues, personsPart } from './demo-issues.ts';
import { type Here, type IssueRow, issueRows } from './issue-rows.ts';
import { openLines } from './lines.ts';
import { type DemoFolder, openDemoFolder, putAside } from './make-demo.ts';
import { type PlayedPerson, playPerson } from './play-person.ts';
import { type AskingIssue, answerInPlace, askingIssues, showQuestions } from './questions.ts';
import { quietRemark } from './quiet-remark.ts';

interface DemoFlags {
  readonly json?: boolean;
  readonly once?: boolean;
  readonly fresh?: boolean;
  readonly dir?: string;
}

/** `baton demo`: the real daemon with its own board on a scratch repository, with the scripted agent. */
export async function demo(flags: DemoFlags, given: Surroundings): Promise<number> {
  const surroundings = flags.once ? atSpeed(given) : given;
  surroundings.closeInherited();
  using signals = listenForStop(surroundings);
  const { folder, keptOther } = await openDemoFolder(flags, surroundings);
  const json = flags.json === true;
  if (keptOther !== null && !json)
    surroundings.stdout.write(
      `The previous demo${flags.fresh ? '' : ' was from another version of Baton. It'} is now in ${keptOther}\n`,
    );
  const { logger, close } = createLogger({ clock: systemClock, file: { logsRoot: folder.root }, terminal: null });
  try {
    const { server } = loadWorkflow(folder.workflow, workflowContext(surroundings, folder.stateDir)).settings;
    const { workflow: workflowPath, stateDir } = folder;
    const isStopping = (): boolean => signals.isStopping;
    await using api = await openApi({ server, port: undefined, stateDir, isStopping }, logger, surroundings);
    await using daemon = await createDaemon(
      { workflowPath, stateDir, trial: null, role: 'daemon', logger, api },
      surroundings,
    );
    const { orchestrator } = daemon;
    const board = daemon.board();
    await fileIssues(board);
    const here = commandsHere(folder, surroundings);
    const rows = async (): Promise<IssueRow[]> => issueRows(await allIssues(board), orchestrator.read(), here);
    const again = `${here('baton demo')} --dir ${shellArgument(folder.root)}`;
    const first = await rows();
    if (first.every(({ status }) => status === 'done')) {
      await daemon[Symbol.asyncDispose]();
      return await startAgain(flags, folder, surroundings);
    }
    const isRunning = (id: string): boolean => orchestrator.read().running.some(({ issue }) => issue.id === id);
    await using workplace = await openWorkplace(folder, surroundings);
    const url = api.address?.url ?? '';
    if (!json) {
      const isNew = (await allRuns(workplace)).length === 0;
      const words = isNew ? introduction(flags.once === true) : continuation(first, again);
      const others = [
        `The same in another terminal: ${here('baton top')}`,
        `Why an issue waits: ${here(`baton explain ${first.at(-1)?.identifier ?? ''}`)}`,
      ];
      const top = flags.once ? [] : others;
      const lines = [...words, `Everything is in ${folder.root}`, `The dashboard is at ${url}`, ...top, ''];
      surroundings.stdout.write(lines.join('\n'));
    }
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
    const showing = { here, say, logger };
    const show = flags.once ? () => {} : showQuestions({ workplace, ...showing });
    const showReviews = flags.once
      ? () => {}
      : showChanges({ board, open, url, project: workplace.project.name, ...showing });
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
    surroundings.stdout.write(summary({ rows: last, runs: await allRuns(workplace), folder, json, here, again }));
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

function introduction(isOnce: boolean): string[] {
  return [
    'Baton demo: ten issues on the board, three agents at a time. The agent is "rehearsal", a script and not an AI:',
    'it really edits files, runs tests and commits, but it asks no AI model and sends nothing over the network.',
    ...(isOnce
      ? [
          'The demo also plays the person who reviews: it merges changes, sends the change of WORDS-6 back with a comment, and',
          'answers questions.',
        ]
      : [
          'Two changes wait for you: approve and merge that of WORDS-3, and send that of WORDS-6 back with a comment.',
          'The demo merges the others in place of a person. One agent will ask you a question. WORDS-1 works for two minutes,',
          'and you can send it messages. Ctrl-C stops the demo.',
        ]),
  ];
}

/** A second start promises nothing that is over. */
function continuation(rows: readonly IssueRow[], again: string): string[] {
  const left = rows.filter(({ status }) => status !== 'done').map(({ identifier }) => identifier);
  return [
    `Baton demo, continued: ${rows.length - left.length} of ${rows.length} issues are done. Not done: ${left.join(', ')}.`,
    `Ctrl-C stops the demo. To start a new one: ${again} --fresh`,
  ];
}

/** All runs of this demo, also those before it was stopped and continued. */
async function allRuns({ store, project }: Workplace): Promise<readonly RunRecord[]> {
  return await store.runs.list(project.id, { limit: 1_000 });
}

interface Ending {
  readonly rows: readonly IssueRow[];
  readonly runs: readonly RunRecord[];
  readonly folder: DemoFolder;
  readonly json: boolean;
  readonly here: Here;
  /** The command that continues this demo. */
  readonly again: string;
}

function summary({ rows, runs, folder, json, here, again }: Ending): string {
  const done = rows.filter(({ status }) => status === 'done').length;
  const outOfQuota = runs.filter(({ finish }) => finish?.errorCode === 'agent_quota_exhausted').length;
  const bad = runs.filter(({ finish }) => badEnds.has(finish?.outcome ?? '')).length - outOfQuota;
  if (json) {
    const figures = { issues: rows.length, done, runs: runs.length, failed: bad, out_of_quota: outOfQuota };
    return jsonLine({ summary: { ...figures, folder: folder.root } });
  }
  const left = rows.filter(({ status }) => status !== 'done');
  return [
    '',
    `${done} of ${rows.length} issues done in ${runsText(runs.length)}; ${runsText(bad)} failed, ${runsText(outOfQuota)} had no quota.`,
    ...left.map(({ identifier, status, detail }) => `  ${identifier} is not done: ${detail || status}`),
    ...(left.length === 0 ? [] : ['To continue from here:', `  ${again}`]),
    'To start a new demo:',
    `  ${again} --fresh`,
    'To see the commits of the agents, their runs, and the log:',
    `  git -C ${shellArgument(folder.project)} log --oneline --graph main`,
    `  ${here('baton runs list')}`,
    `  less ${shellArgument(path.join(folder.root, 'log', 'baton.log'))}`,
    '',
  ].join('\n');
}

const badEnds: ReadonlySet<string> = new Set(['failed', 'timed_out', 'stalled']);

function runsText(count: number): string {
  return count === 1 ? '1 run' : `${count} runs`;
}
