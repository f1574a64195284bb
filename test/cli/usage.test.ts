import { globSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../src/core/error-catalogue.ts';
import { batonHere } from './baton-here.ts';
import { baton, leaveNoPlaces, Place, startBaton } from './run-baton.ts';

const place = new Place();
leaveNoPlaces();

const commands = ['start', 'validate', 'schema', 'demo', 'doctor'];

/** The commands that work beside the daemon of a workflow file, with arguments that would do. */
const beside: readonly (readonly [command: string, ...args: string[]])[] = [
  ['status'],
  ['requests'],
  ['jobs'],
  ['explain', 'x'],
  ['pause'],
  ['resume'],
  ['drain'],
  ['ask list'],
  ['ask show', 'x'],
  ['ask answer', 'x', 'yes'],
  ['steer', 'x', 'mind the step'],
  ['takeover', 'x'],
  ['handback', 'x'],
  ['runs list'],
  ['runs show', 'x'],
  ['runs log', 'x'],
  ['backup', 'file'],
  ['restore', 'file'],
  ['store copy', '--to', 'sqlite:/x.db'],
  ['board'],
  ['issue add', 'A title'],
  ['issue list'],
  ['issue show', 'x'],
  ['issue edit', 'x', '--title', 'y'],
  ['issue move', 'x', 'done'],
  ['issue comment', 'x', 'y'],
  ['issue block', 'x', '--by', 'y'],
  ['issue unblock', 'x', '--by', 'y'],
  ['issue import', 'file.md'],
  ['issue retry', 'x'],
  ['issue hold', 'x'],
  ['issue release', 'x'],
  ['issue stop', 'x'],
];

/** The commands that the docs name, the next step of each error among them (docs/errors.md). */
function namedCommands(): readonly string[] {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).map((file) => readFileSync(`${root}${file}`, 'utf8'));
  const found = pages.join('\n').matchAll(/(?:`|^ *)baton ([a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*(?![\w./-]))?)/gm);
  return [...new Set([...found].map(([, words = '']) => words))].toSorted();
}

describe.concurrent('the command line', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await baton(place, '--version')).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });

  it('lists its commands', async () => {
    const { code, stdout, stderr } = await baton(place, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  });

  it.each(commands)('explains %s, its arguments and --json', async (command) => {
    const { code, stdout, stderr } = await batonHere(place, command, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: baton ${command}`);
    expect(stdout).toContain('--json');
  });

  it.each(beside)('explains %s, and rejects unknown options and a missing file', async (name, ...args) => {
    using own = new Place();
    const words = name.split(' ');
    const help = await batonHere(own, ...words, '--help');
    expect({ code: help.code, stderr: help.stderr }).toEqual({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`Usage: baton ${name} [options]`);
    for (const option of ['--json', '--workflow <file>', '--state-dir <dir>']) expect(help.stdout).toContain(option);

    const misused = await batonHere(own, ...words, ...args, '--no-such-flag');
    expect(misused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("'--no-such-flag'") });

    const alone = await batonHere(own, ...words, ...args, '--json');
    expect({ code: alone.code, stderr: alone.stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(alone.stdout).error).toMatchObject({
      code: 'missing_workflow_file',
      message: expect.stringContaining(`${own.folder}/WORKFLOW.md`),
    });
    expect(readdirSync(own.folder).sort()).toEqual(['home', 'tmp']);
  });

  it.each(namedCommands())('has the command `baton %s`, which the docs name', async (words) => {
    const { code, stdout } = await batonHere(place, ...words.split(' '), '--help');
    expect({ code, usage: stdout.split('\n')[0] }).toEqual({
      code: 0,
      usage: expect.stringMatching(new RegExp(`^Usage: baton ${words}\\b`)),
    });
  });

  it.each(['issue', 'runs', 'store'])('lists the commands of %s when none is named, with exit code 2', async (name) => {
    const { code, stdout, stderr } = await batonHere(place, name);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const [command] of beside.filter(([each]) => each.startsWith(`${name} `)))
      expect(stderr).toMatch(new RegExp(`^ {2}${command.split(' ')[1]} `, 'm'));
  });

  const misuses = [
    ['--no-such-flag'],
    ...commands.map((command) => [command, '--no-such-flag']),
    ...commands.map((command) => [command, 'one', 'two']),
    ['one', 'two'],
    ['schema', 'one'],
    ['demo', 'one'],
    ...['abc', '', '-1', '70000', '1.5', '1e3', '0x10'].map((port) => ['start', '--port', port]),
    ['--port'],
    ['--logs-root', ' '],
    ['--state-dir', ''],
    ['demo', '--dir', ''],
    ['init', '--no-such-flag'],
    ['init', 'one', 'two'],
    ['status', '--state-dir', ' '],
    ['issue', 'list', '--state-dir', ''],
    ['status', 'one'],
    ['pause', 'one'],
    ['runs', 'no-such-command'],
    ['runs', 'show'],
    ['runs', 'list', '--limit', '0'],
    ['issue', 'hold'],
    ['issue', 'hold', 'one', 'two'],
    ['store', 'copy'],
    ['backup'],
    ['start', '--max-runs', '0'],
    ['start', '--max-runs', 'many'],
    ['start', '--max-agents', '0'],
    ['start', '--only', ','],
  ];

  it.each(misuses.map((args) => ({ args })))('rejects $args with exit code 2, on stderr alone', async ({ args }) => {
    using own = new Place();
    const { code, stdout, stderr } = await batonHere(own, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n.*\bbaton .*--help\b.*\n$/);
  });

  it.each([
    [['runs', 'show'], 'baton runs show --help'],
    [['issue', 'hold', 'one', 'two'], 'baton issue hold --help'],
    [['start', '--max-runs', '0'], 'baton start --help'],
    [['isue', 'list'], '(see baton --help)'],
  ])('names the help of the command that was misused: %s', async (args, help) => {
    using own = new Place();
    expect((await batonHere(own, ...args)).stderr).toContain(help);
  });

  it.each([
    { args: ['validate', '--no-such-flag', '--json'], what: '--no-such-flag' },
    { args: ['--json', '--port', 'abc'], what: 'abc' },
    { args: ['demo', '--json', 'one'], what: 'one' },
  ])('rejects $args as JSON on stdout alone', async ({ args, what }) => {
    const { code, stdout, stderr } = await baton(place, ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({
      code: 'usage_error',
      retryable: false,
      next_step: expect.stringContaining('--help'),
    });
    expect(error.message).toContain(what);
    expect(error.message).not.toMatch(/^error:/);
  });

  it.each([
    ['validat', 'validate'],
    ['sart', 'start'],
    ['docter', 'doctor'],
  ])('suggests for %s the command %s', async (typed, meant) => {
    const { code, stdout, stderr } = await batonHere(place, typed);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('missing_workflow_file');
    expect(stderr).toContain(`\`baton ${meant}\``);
  });

  it('does not suggest a command for a path', async () => {
    const { code, stdout } = await baton(place, 'flows/somewhere.md', '--json');
    expect(code).toBe(1);
    const { error } = JSON.parse(stdout);
    expect(error.code).toBe('missing_workflow_file');
    expect(error.next_step).toBe(errorCatalogue.missing_workflow_file.nextStep);
  });

  it('survives a reader that is gone', async () => {
    const running = startBaton(place, 'schema');
    running.child.stdout?.destroy();
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
