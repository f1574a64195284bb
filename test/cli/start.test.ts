// @module-tag full
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../process/real-children.ts';
import { baton, jsonLines, leaveNoPlaces, Place, type RunningBaton, startBaton, workflowText } from './run-baton.ts';

/** An agent that tells that it is there and then works until it is ended. */
const patient = 'cat > prompt.txt; echo at work; touch started; while :; do sleep 0.1; done';
const issues = JSON.stringify([{ identifier: 'T-1', title: 'A title', id: 'id-1' }]);

function givenWorkflow(place: Place, command: string, more = ''): string {
  place.write('issues.json', issues);
  return place.write('WORKFLOW.md', workflowText(command, more));
}

async function untilExists(file: string): Promise<void> {
  await until(() => existsSync(file), `${file} is there`);
}

const logged = (running: RunningBaton): string[] =>
  jsonLines(wholeLines(running.stderr())).map(({ event }) => String(event));
const wholeLines = (text: string): string => text.slice(0, text.lastIndexOf('\n') + 1);

leaveNoPlaces();

describe.concurrent('baton start', () => {
  // @conforms I5
  it('names a missing workflow file, and leaves nothing behind', async () => {
    using place = new Place();
    const { code, stdout, stderr } = await baton(place, 'nowhere.md');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(path.join(place.folder, 'nowhere.md'));
    expect(stderr).toContain('missing_workflow_file');
    expect(readdirSync(place.folder).sort()).toEqual(['home', 'tmp']);
  });

  it.each([
    ['missing', null],
    ['no list', '{"a": 1}'],
    ['no YAML', '[}'],
  ])('refuses an issues file that is %s', async (_what, content) => {
    using place = new Place();
    givenWorkflow(place, patient);
    place.write('WORKFLOW.md', workflowText(patient).replace('issues.json', 'other.json'));
    if (content !== null) place.write('other.json', content);
    const { code, stderr } = await baton(place);
    expect(code).toBe(1);
    expect(stderr).toContain('invalid_tracker_config');
    expect(stderr).toContain(path.join(place.folder, 'other.json'));
  });

  // @conforms I4
  it('runs an issue until TERM: exit code 0, no process left, a log with identifiers', async () => {
    using place = new Place();
    const orphan = 'setsid sleep 600 > /dev/null 2>&1 &';
    givenWorkflow(place, `${orphan} ${patient}`, 'hooks: {after_run: "touch ended"}');
    const running = startBaton(place, '--logs-root', 'logs', '--port', '0');
    const workspace = path.join(place.folder, 'workspaces', 'T-1');
    await untilExists(path.join(workspace, 'started'));
    expect(place.pids().length).toBeGreaterThanOrEqual(3);
    running.child.kill('SIGTERM');
    const { code, signal, stdout, stderr } = await running.ended;
    expect({ code, signal, stdout }).toEqual({ code: 0, signal: null, stdout: '' });
    expect(place.pids()).toEqual([]);
    expect(place.read('workspaces/T-1/prompt.txt')).toContain('Work on T-1: A title');
    expect(existsSync(path.join(workspace, 'ended'))).toBe(true);

    const lines = jsonLines(place.read('logs/log/baton.log'));
    const names = { issue_id: 'id-1', issue_identifier: 'T-1', run_id: expect.stringMatching(/^[0-9a-f-]{36}$/) };
    for (const event of ['run_started', 'run_stopping', 'run_stopped'])
      expect(lines.find((line) => line.event === event)).toMatchObject({ level: 'info', ...names });
    expect(new Set(lines.filter(({ run_id }) => run_id !== undefined).map(({ run_id }) => run_id)).size).toBe(1);
    expect(lines.at(-1)).toMatchObject({ event: 'baton_stopped' });
    // Not a terminal: the same lines as JSON on stderr.
    expect(jsonLines(stderr).map(({ event }) => event)).toEqual(
      lines.filter(({ level }) => level !== 'debug').map(({ event }) => event),
    );
    // In its opening lines, and so before the first run.
    const opening = jsonLines(stderr).slice(
      0,
      lines.findIndex(({ event }) => event === 'run_started'),
    );
    expect(opening.find(({ event }) => event === 'bill_bounded')).toMatchObject({
      level: 'info',
      by: expect.stringMatching(/^limits\.runs_per_issue: 30; .*limits\.usd_per_day: \$100/),
    });
    expect(lines.find(({ event }) => event === 'baton_starting')).toMatchObject({
      dashboard: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
  });

  it("writes its log below the user's state folder by default, and warns when no limit bounds the bill", async () => {
    using place = new Place();
    const noLimit = 'usd_per_day: 0, tokens_per_day: 0, runs_per_issue: 0, run_wall_time_ms: 0';
    givenWorkflow(place, patient, `limits: {${noLimit}}`);
    const running = startBaton(place);
    await untilExists(path.join(place.folder, 'workspaces', 'T-1', 'started'));
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0 });
    const [own] = readdirSync(path.join(place.state, 'baton'));
    const lines = jsonLines(place.read(`state/baton/${own}/log/baton.log`));
    expect(lines.find(({ event }) => event === 'bill_not_bounded')).toMatchObject({ level: 'warn' });
    expect(lines.length).toBeGreaterThan(3);
    expect(readdirSync(place.folder).sort()).toEqual([
      'WORKFLOW.md',
      'home',
      'issues.json',
      'state',
      'tmp',
      'workspaces',
    ]);
  });

  it('continues when its log cannot be written', async () => {
    using place = new Place();
    givenWorkflow(place, patient);
    place.write('blocked', 'a file where a folder should be');
    const running = startBaton(place, '--logs-root', 'blocked');
    await untilExists(path.join(place.folder, 'workspaces', 'T-1', 'started'));
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(logged(running)).toContain('log_sink_failed');
  });

  it('ends a stubborn agent and hook at once on a second signal, with exit code 1', async () => {
    using place = new Place();
    const stubborn = `trap '' TERM; touch started; while :; do sleep 1; done`;
    const hook = `hooks: {after_run: "trap '' TERM; while :; do sleep 1; done", timeout_ms: 600000}`;
    givenWorkflow(place, stubborn, hook);
    const running = startBaton(place);
    await untilExists(path.join(place.folder, 'workspaces', 'T-1', 'started'));
    running.child.kill('SIGTERM');
    await until(() => logged(running).includes('run_stopping'), 'the run is stopped');
    const stoppedAt = performance.now();
    // A signal that comes sooner is taken for the same wish, heard twice.
    await until(() => performance.now() - stoppedAt > 600, 'the next signal is a second one');
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 1, signal: null });
    expect(place.pids()).toEqual([]);
    expect(logged(running).at(-1)).toBe('baton_killed_by_signal');
  });

  it('stops in order on a signal while it is still starting', async () => {
    using place = new Place();
    givenWorkflow(place, patient);
    const running = startBaton(place);
    // The probe of the machine runs before the first tick and has a folder of its own.
    await until(() => readdirSync(place.temporary).length > 0, 'the probe has begun');
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
    expect(place.pids()).toEqual([]);
    expect(readdirSync(place.temporary)).toEqual([]);
    expect(existsSync(path.join(place.folder, 'workspaces'))).toBe(false);
  });
});

describe.concurrent('an edit of the workflow file while Baton runs', () => {
  const notUsable = 'workflow_invalid';

  it.each([['is bad', 'interval_ms: 100', 'interval_ms: never', notUsable]])(
    'that %s is reported once and changes nothing; after a fix it is in force',
    async (_what, from, to, message) => {
      using place = new Place();
      // Each run is over at once, so that the next one shows which file is in force.
      const text = workflowText('cat >> ../../prompts.txt');
      givenWorkflow(place, '');
      place.write('WORKFLOW.md', text);
      const running = startBaton(place);
      await untilExists(path.join(place.folder, 'prompts.txt'));
      place.replace('WORKFLOW.md', text.replace(from, to).replace('Work on', 'Broken'));
      await until(() => logged(running).includes(message), message);
      place.replace('WORKFLOW.md', text.replace('Work on', 'Mended'));
      await until(() => place.read('prompts.txt').includes('Mended T-1'), 'the mended file is in force');
      expect(place.read('prompts.txt')).not.toContain('Broken');
      expect(logged(running).filter((event) => event === message)).toHaveLength(1);
      running.child.kill('SIGTERM');
      expect(await running.ended).toMatchObject({ code: 0 });
      expect(place.pids()).toEqual([]);
    },
  );
});
