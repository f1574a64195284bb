// @module-tag full
import { describe, expect, it } from 'vitest';
import { batonHere, daemonHere } from './baton-here.ts';
import { boardWorkflow, liveTest } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

function placeWith(text: string): Place {
  const place = new Place();
  place.write('WORKFLOW.md', text);
  return place;
}

/** Each command that judges a workflow file. */
const judges = [
  ['validate', 'WORKFLOW.md'],
  ['doctor', 'WORKFLOW.md'],
  ['start', '--dry-run'],
  ['start', '--port', '0'],
] as const;

describe.concurrent('a broken workflow file', liveTest, () => {
  const broken = [
    ['a template that cannot render', `${boardWorkflow()}{{ issue.titel }}\n`, 'template_render_error'],
    ['a value of the wrong type', boardWorkflow('limits: {tokens_per_day: many}'), 'limits.tokens_per_day'],
    ['an address that this machine does not have', boardWorkflow('server: {host: 203.0.113.7}'), 'listener_failed'],
    ['a host that is no address', boardWorkflow('server: {host: "300.1.1.1"}'), 'listener_failed'],
  ] as const;

  it.each(broken)('is refused by every command that judges it: %s', async (_, text, expected) => {
    for (const command of judges) {
      using place = placeWith(text);
      const { code, stdout, stderr } = await batonHere(place, ...command);
      expect({ command, code, output: stdout + stderr }).toEqual({
        command,
        code: 1,
        output: expect.stringContaining(expected),
      });
    }
  });

  it('is refused by explain too, instead of calling an issue ready', async () => {
    using place = placeWith(`${boardWorkflow()}{{ issue.titel }}\n`);
    const { code, stdout } = await batonHere(place, 'explain', 'BAT-1', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'template_render_error' } });
  });

  it('that cannot be read is named by every command, and no defect of Baton', async () => {
    for (const command of [...judges, ['explain', 'BAT-1']]) {
      using place = new Place();
      // Root may read every file, so a folder stands for one without permission.
      place.write('WORKFLOW.md/file', '');
      const { code, stdout, stderr } = await batonHere(place, ...command);
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stdout + stderr).toContain('missing_workflow_file');
      expect(stdout + stderr).toContain(`${place.folder}/WORKFLOW.md`);
    }
  });

  it('has its warning shown by every command that judges it', async () => {
    const text = boardWorkflow('agnt: {}');
    for (const command of judges.slice(0, 3)) {
      using place = placeWith(text);
      const { stdout, stderr } = await batonHere(place, ...command);
      expect(stdout + stderr, command.join(' ')).toContain('agnt');
    }
    using place = placeWith(text);
    const daemon = await daemonHere(place, '--port', '0');
    const warned = daemon
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"workflow_warning"'));
    await daemon.stop();
    expect(warned.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', code: 'unknown_setting', key: 'agnt' },
    ]);
  });

  it.each(['', ' '])('names the blank key "%s" of a map', async (blank) => {
    const agent = `agent: {max_concurrent_agents_by_state: {${JSON.stringify(blank)}: 2}, `;
    using place = placeWith(boardWorkflow().replace('agent: {', agent));
    const { code, stdout } = await batonHere(place, 'validate', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout).errors).toMatchObject([
      { key: 'agent.max_concurrent_agents_by_state', details: { problem: 'blank_key' } },
    ]);
  });
});

describe.concurrent('baton start', liveTest, () => {
  it('names the workflow file when it fails for another reason', async () => {
    using place = placeWith(boardWorkflow('server: {host: 203.0.113.7}'));
    const { code, stdout } = await batonHere(place, 'start', '--json');
    expect(code).toBe(1);
    const { error } = JSON.parse(stdout);
    expect(error).toMatchObject({ code: 'listener_failed', details: { workflow: `${place.folder}/WORKFLOW.md` } });
    const { stderr } = await batonHere(place, 'start');
    expect(stderr).toContain(`${place.folder}/WORKFLOW.md`);
  });

  // @conforms ref-no-listener
  it('opens no port with server.enabled: false, unless --port is given', async () => {
    using place = placeWith(boardWorkflow('server: {enabled: false}'));
    const addressOf = async (...args: string[]): Promise<unknown> => {
      const daemon = await daemonHere(place, ...args);
      const lines = daemon
        .stderr()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      const { code } = await batonHere(place, 'status');
      await daemon.stop();
      expect(code).toBe(0);
      return lines.find(({ event }) => event === 'baton_starting').dashboard;
    };
    expect(await addressOf()).toBeNull();
    expect(await addressOf('--port', '0')).toMatch(/^http:/);
  });

  // @conforms ref-acknowledgement
  it("accepts the acknowledgement flag of Symphony's reference, and shows it nowhere", async () => {
    using place = placeWith(boardWorkflow());
    const flag = '--i-understand-that-this-will-be-running-without-the-usual-guardrails';
    expect(await batonHere(place, 'start', '--dry-run', flag)).toMatchObject({ code: 0 });
    expect((await batonHere(place, 'start', '--help')).stdout).not.toContain(flag);
  });
});
