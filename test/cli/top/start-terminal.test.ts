// @module-tag full
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { baton, batonCommand, leaveNoPlaces, Place, workflowText } from '../run-baton.ts';
import { makeTerminal, PseudoTerminal, type TerminalSize } from './pseudo-terminal.ts';

leaveNoPlaces();

const size: TerminalSize = { columns: 120, rows: 40 };
/** Each test starts real daemons on a machine that may be busy. */
const patient = { timeout: 120_000 };
const working = 'echo at work; while [ ! -e done ]; do sleep 0.1; done';

function givenProject(command: string, more = ''): Place {
  const place = new Place({ TERM: 'xterm-256color' });
  place.write('issues.json', JSON.stringify([{ identifier: 'T-1', title: 'A title', id: 'id-1' }]));
  place.write('WORKFLOW.md', workflowText(command, more));
  return place;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A command that leaves its pid, by which the terminal's own signals reach it. */
function leavingPid(...args: string[]): string {
  return `sh -c 'echo $$ > pid; exec "$@"' sh ${batonCommand(...args)}`;
}

async function hasEnded(place: Place, terminal: PseudoTerminal): Promise<number> {
  const codeFile = `${place.folder}/code`;
  await terminal.until(() => existsSync(codeFile) && place.read('code').endsWith('\n'), 'it never ended');
  return Number(place.read('code'));
}

async function isAlive(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(5_000) })).ok;
}

describe.skipIf(!existsSync(makeTerminal))('baton start on a terminal', () => {
  // @conforms S2
  it('shows the live view and the dashboard address, and ends in order on Ctrl-C', patient, async () => {
    using place = givenProject(working);
    const port = await freePort();
    await using terminal = new PseudoTerminal(place, size, leavingPid('start', '--port', `${port}`));
    await terminal.sees(/● T-1 .*at work/);
    await terminal.sees(`http://127.0.0.1:${port}`);
    // The log below the lists.
    await terminal.sees(/ INFO .* issue_identifier=T-1 /);
    terminal.type('\u0003');
    expect(await hasEnded(place, terminal)).toBe(0);
    expect(terminal.isAlternate()).toBe(false);
    await terminal.ended();
    expect(place.read('after')).toMatch(/ icanon .* echo /s);
    expect(place.pids()).toEqual([]);
  });

  it('shows the warnings of the workflow file until a key is pressed', patient, async () => {
    using place = givenProject(working, 'agnt: {}');
    await using terminal = new PseudoTerminal(place, size, leavingPid('start', '--port', '0'));
    await terminal.sees(/● T-1 .*at work/);
    // The bottom of the screen; the log above it may have the same words.
    const lastLines = (): string => terminal.lines().slice(-2).join('\n');
    expect(lastLines()).toContain('agnt');
    terminal.type('j');
    await terminal.until(() => !lastLines().includes('agnt'), 'the warning stays');
  });

  it('prints after q that it continues, how to end it and how to show the view again', patient, async () => {
    using place = givenProject(working);
    await using terminal = new PseudoTerminal(place, size, leavingPid('start', '--port', '0'));
    await terminal.sees(/● T-1 .*at work/);
    const [address = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.lines()[0] ?? '') ?? [];
    expect(address).not.toBe('');
    terminal.type('q');
    await terminal.sees(' top`');
    const seen = terminal.lines().join('\n');
    expect(terminal.isAlternate()).toBe(false);
    for (const words of ['before', ' issue_identifier=T-1 ', 'Ctrl-C', `: ${address}`]) expect(seen).toContain(words);
    expect((await fetch(`${address}/healthz`)).ok).toBe(true);
    // From now on a terminal makes a signal of it again.
    terminal.type('\u0003');
    expect(await hasEnded(place, terminal)).toBe(0);
  });

  // @conforms top.4
  it.each([
    ['the view', ['--port']],
    ['the log', ['--no-view', '--port']],
    ['the log as JSON', ['--json', '--port']],
  ])('continues, and ends on SIGTERM, when %s is no longer read', patient, async (_, args) => {
    // One run after the other, and each of them is told.
    using place = givenProject('true');
    const port = await freePort();
    await using terminal = new PseudoTerminal(place, size, leavingPid('start', ...args, `${port}`));
    await terminal.sees('T-1');
    await terminal.stopReading();
    // More than enough for a frame and many lines.
    await sleep(4_000);
    expect(await isAlive(port)).toBe(true);
    await sleep(1_000);
    expect(await isAlive(port)).toBe(true);
    terminal.signal('SIGTERM');
    expect(await hasEnded(place, terminal)).toBe(0);
    expect(place.pids().filter((pid) => pid === Number(place.read('pid')))).toEqual([]);
  });

  it('shows the view again when the terminal is read again', patient, async () => {
    using place = givenProject(working);
    await using terminal = new PseudoTerminal(place, size, leavingPid('start', '--port', '0'));
    await terminal.sees(/● T-1 .*at work/);
    await terminal.stopReading();
    await sleep(3_000);
    place.write('workspaces/T-1/done', '');
    await sleep(2_000);
    terminal.readAgain();
    await terminal.resize({ columns: 100, rows: 30 });
    await terminal.until(() => / {2}q \S/.test(terminal.lines().at(-1) ?? ''), 'it did not come back');
    terminal.type('q');
    // The path of this clone may be longer than a line.
    await terminal.until(() => terminal.lines().join('').includes(' top`'), 'it does not say how to show it again');
  });

  // @conforms top.7
  it('shows it also where other callers need a token, and so does top', patient, async () => {
    using place = givenProject(working, 'server: {host: 0.0.0.0}');
    expect(await baton(place, 'token', 'create', '--scope', 'read')).toMatchObject({ code: 0 });
    await using terminal = new PseudoTerminal(place, size, leavingPid('start', '--port', '0'));
    await terminal.sees(/● T-1 .*at work/);
    await terminal.sees(/ {2}p pause /);
    terminal.type('p');
    // Since when it is paused.
    await terminal.sees(/^ ! .* \d+s/m);
    using beside = new Place(inPlace(place));
    await using other = new PseudoTerminal(beside, size, `cd '${place.folder}'; ${batonCommand('top')}; cd -`);
    await other.sees(/● T-1 .*at work/);
    await other.sees(/^ ! .* \d+s/m);
    other.type('p');
    await terminal.until(() => !/^ ! /m.test(terminal.lines().join('\n')), 'it is not resumed');
  });
});

/** Whoever has this is the same user, and finds the same daemon. */
function inPlace({ home, state, temporary }: Place): Record<string, string> {
  return { TERM: 'xterm-256color', HOME: home, XDG_STATE_HOME: state, TMPDIR: temporary };
}

describe.skipIf(!existsSync(makeTerminal))('baton top next to a daemon', () => {
  // @conforms S2
  it('shows the state and the dashboard address over the API, and filters it', patient, async () => {
    using place = givenProject(working);
    await using daemon = new PseudoTerminal(place, size, leavingPid('start', '--no-view', '--port', '0'));
    await daemon.sees(' issue_identifier=T-1 ');
    using beside = new Place(inPlace(place));
    await using terminal = new PseudoTerminal(
      beside,
      { columns: 80, rows: 24 },
      `cd '${place.folder}'; ${batonCommand('top')}; cd -`,
    );
    await terminal.sees(/● T-1 .*at work/);
    await terminal.sees(/http:\/\/127\.0\.0\.1:\d+/);
    terminal.type('/nothing says this\r');
    await terminal.until(() => !/● T-1 /.test(terminal.lines().join('\n')), 'the filter hides nothing');
    await terminal.sees(/^ [A-Z]\D+ 0 \D+ 1 /m);
    terminal.type('\u001b');
    await terminal.sees(/● T-1 .*at work/);
    terminal.type('q');
    await terminal.ended();
    expect(beside.read('code')).toBe('0\n');
    // The daemon goes on.
    expect(place.pids().length).toBeGreaterThan(1);
  });
});
