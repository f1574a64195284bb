import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { baton, leaveNoPlaces, Place, startBaton } from './run-baton.ts';

const place = new Place();
leaveNoPlaces();

const commands = ['start', 'validate', 'schema', 'demo', 'doctor'];

describe.concurrent('the command line', () => {
  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await baton(place, '--version')).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });

  it('tells its commands', async () => {
    const { code, stdout, stderr } = await baton(place, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  });

  it.each(commands)('explains %s, its arguments and --json', async (command) => {
    const { code, stdout, stderr } = await baton(place, command, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: baton ${command}`);
    expect(stdout).toContain('--json');
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
  ];

  it.each(misuses.map((args) => ({ args })))('refuses $args with exit code 2, on stderr alone', async ({ args }) => {
    using own = new Place();
    const { code, stdout, stderr } = await baton(own, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n\(see baton --help\)\n$/);
    expect(own.pids()).toEqual([]);
  });

  it.each([
    { args: ['validate', '--no-such-flag', '--json'], what: '--no-such-flag' },
    { args: ['--json', '--port', 'abc'], what: 'abc' },
    { args: ['demo', '--json', 'one'], what: 'one' },
  ])('refuses $args as JSON on stdout alone', async ({ args, what }) => {
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
  ])('understands that %s was meant to be %s', async (typed, meant) => {
    const { code, stdout, stderr } = await baton(place, typed);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('missing_workflow_file');
    expect(stderr).toContain(`\`baton ${meant}\``);
  });

  it('does not guess at a command for a path', async () => {
    const { code, stdout } = await baton(place, 'flows/somewhere.md', '--json');
    expect(code).toBe(1);
    const { error } = JSON.parse(stdout);
    expect(error.code).toBe('missing_workflow_file');
    expect(error.next_step).not.toContain('`baton ');
  });

  it('is not upset by a reader that has gone', async () => {
    const running = startBaton(place, 'schema');
    running.child.stdout?.destroy();
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
