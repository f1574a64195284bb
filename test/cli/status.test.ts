// @module-tag full
import { describe, expect, it } from 'vitest';
import { batonHere, daemonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  liveTest,
  soon,
  startDaemon,
  statusOf,
  stopDaemon,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

describe.concurrent('baton status', liveTest, () => {
  it('says that no daemon answers when it is frozen, and a command waits for it', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const daemon = await startDaemon(place);
    // Frozen in the middle of a write it would hold up everybody's; that is another matter.
    await untilStatus(place, { polling: { ticks: 1, poll_check_in_progress: false } });
    daemon.child.kill('SIGSTOP');
    const [shown, json] = await Promise.all([batonHere(place, 'status'), batonHere(place, 'status', '--json')]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain(' baton start\n');
    expect(JSON.parse(json.stdout)).toMatchObject({ daemon: false, status: null });
    // A process of another test with the marker of a run, in this session, makes the caller an agent for a moment.
    await soon(async () => {
      const { stdout } = await batonHere(place, 'pause', '--json');
      expect(JSON.parse(stdout)).toMatchObject({ command: { status: 'waiting' } });
    });
    daemon.child.kill('SIGCONT');
    await untilStatus(place, { paused: { kind: 'pause' } });
    await stopDaemon(daemon);
  });

  it('shows an invalid edit of the workflow file, and the work that continues', async () => {
    using place = new Place();
    const good = boardWorkflow();
    place.write('WORKFLOW.md', good);
    await addIssue(place, untilDone);
    const daemon = await daemonHere(place);
    await untilStatus(place, { running: [{ issue_identifier: 'BAT-1', last_message: 'at work' }] });
    place.replace('WORKFLOW.md', good.replace('3600000', 'never\u202e'));
    await untilStatus(place, { workflow_problem: { code: 'invalid_workflow_config' } });
    const shown = await batonHere(place, 'status');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/: .*polling\.interval_ms/);
    expect(shown.stdout).toMatch(/^ {2}BAT-1 .*at work$/m);
    expect(shown.stdout).not.toContain('\u202e');
    // Where a person opens the dashboard.
    expect(shown.stdout).toContain((await statusOf(place)).api);
    expect(await answer(place, 'status')).toMatchObject({
      daemon: true,
      waiting_commands: 0,
      status: { workflow_problem: { code: 'invalid_workflow_config' }, counts: { running: 1 } },
    });
    place.replace('WORKFLOW.md', good);
    await untilStatus(place, { workflow_problem: null });
    expect(await answer(place, 'status')).toMatchObject({ waiting_commands: 0 });
    await daemon.stop();
    place.replace('WORKFLOW.md', good.replace('3600000', 'never'));
    const alone = await batonHere(place, 'status', '--json');
    expect(alone.code).toBe(1);
    expect(JSON.parse(alone.stdout).error).toMatchObject({ code: 'invalid_workflow_config' });
  });

  it('prints everything as JSON, in the names of the specification', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow('hooks: {before_run: "exit 3"}'));
    await addIssue(place, untilDone);
    const daemon = await daemonHere(place);
    await untilStatus(place, { retrying: [{ issue_identifier: 'BAT-1' }] });
    await soon(async () => expect(await statusOf(place)).toMatchObject({ errors: [] }));
    expect(await statusOf(place)).toMatchObject({
      paused: null,
      counts: { running: 0, retrying: 1, held: 0 },
      slots: { used: 0, limit: 10 },
      retrying: [{ kind: 'failure', attempt: 1, error: expect.stringContaining('before_run') }],
      totals: { runs: 1, runs_by_end: { failed: 1 }, total_tokens: 0 },
      // The board is on this machine: it is looked at every five seconds, whatever the file says.
      polling: { mode: 'fixed', interval_ms: 5_000, failures: 0, pressure: { step: 'free' } },
      workflow_problem: null,
    });
    const { stdout } = await batonHere(place, 'status');
    expect(stdout).toMatch(/^ {2}BAT-1 .*\d{4}-\d\d-\d\d .*before_run/m);
    await daemon.stop();
  });

  it('names the account that is ready next to one without quota', async () => {
    using place = new Place();
    const agent = 'agent: {backend: rehearsal, accounts: [{name: main}, {name: spare}]}';
    place.write('WORKFLOW.md', boardWorkflow().replace(/^agent: .*$/m, agent));
    await addIssue(place, '```rehearsal\nfirst quota 3600000 1\nlisten 3600000\n```');
    const daemon = await daemonHere(place);
    await untilStatus(place, { running: [{ issue_identifier: 'BAT-1', account: 'spare' }] });
    const { accounts } = await statusOf(place);
    expect(accounts).toMatchObject([{ name: 'main', waits_for: expect.any(String) }, { waits_for: null }]);
    const { stdout } = await batonHere(place, 'status');
    expect(stdout).toMatch(/^account "main".*"spare"/m);
    await daemon.stop();
  });
});
