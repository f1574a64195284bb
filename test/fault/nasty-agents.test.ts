// @module-tag full
import { describe, expect, it } from 'vitest';
import { answer, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { pidsWithArgument, uniqueNap } from '../process/real-children.ts';
import { startLive } from './fault-daemon.ts';
import { NastyScene } from './nasty-scene.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';

leaveNoPlaces();

describe.concurrent('under a live daemon', faultTest, () => {
  it('an agent that ignores TERM is killed when its issue is cancelled', async () => {
    using scene = new NastyScene();
    await scene.start(`trap '' TERM INT HUP; echo at work; while :; do sleep 0.2; done`);
    await patiently(() => expect(leftIn(`${scene.place.folder}/workspaces/${scene.nasty}`)).not.toEqual([]));
    await answer(scene.place, 'issue', 'move', scene.nasty, 'cancelled');
    expect(await scene.ended()).toMatchObject([{ outcome: 'canceled_by_reconciliation' }]);
    expect(leftIn(`${scene.place.folder}/workspaces/${scene.nasty}`)).toEqual([]);
    await scene.check();
  });

  it('a process that an agent forks into another session, without parent and environment, ends with the run', async (context) => {
    using scene = new NastyScene();
    const nap = uniqueNap();
    const hidden = `(setsid env -i sh -c "cd /; (trap '' TERM HUP; sleep ${nap}; :) & exit" &)`;
    const daemon = await scene.start(`${hidden}; (setsid sleep ${nap} &); while [ ! -e go ]; do sleep 0.05; done`);
    await patiently(() => expect(pidsWithArgument(nap).length).toBe(2));
    if (daemon.stderr().includes('marker_sweep')) context.skip('without namespaces it is not found; told by doctor');
    scene.place.write(`workspaces/${scene.nasty}/go`, '');
    expect(await scene.ended()).toMatchObject([{ outcome: 'succeeded' }]);
    expect(pidsWithArgument(nap)).toEqual([]);
    await scene.check();
  });

  it('a process that an agent forked away dies with a killed daemon', async (context) => {
    using scene = new NastyScene();
    const nap = uniqueNap();
    const hidden = `(setsid env -i sh -c "cd /; (trap '' TERM HUP; sleep ${nap}; :) & exit" &)`;
    const daemon = await scene.start(`${hidden}; exec sleep ${nap}`);
    await patiently(() => expect(pidsWithArgument(nap).length).toBe(2));
    if (daemon.stderr().includes('marker_sweep')) context.skip('without namespaces it is not found; told by doctor');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    // Before another daemon could start an agent.
    await patiently(() => expect(pidsWithArgument(nap)).toEqual([]));
    const next = await startLive(scene.place, '--only', scene.good);
    expect(await scene.ended()).toMatchObject([{ outcome: 'interrupted' }]);
    await stopDaemon(next);
    expect(leftIn(scene.place.folder)).toEqual([]);
    expect(scene.watch.overlaps).toEqual([]);
  });

  it('an agent that prints nothing counts as stalled, and is retried only after the backoff', async () => {
    using scene = new NastyScene();
    await scene.start('exec sleep 600', ['  stall_timeout_ms: 4000'], 20);
    const runs = await scene.ended(2);
    expect(runs).toMatchObject([
      { outcome: 'stalled', error_code: 'run_stalled', attempt: null },
      { outcome: 'stalled', error_code: 'run_stalled', attempt: 1, retry_kind: 'failure' },
    ]);
    const [endedAt, startedAt] = [Number(runs[0]?.ended_at), Number(runs[1]?.started_at)];
    expect(startedAt - endedAt).toBeGreaterThanOrEqual(1500);
    await scene.check();
  });

  // @conforms 4.126
  it('an agent that exits in the middle of a turn has failed, and is retried only after the backoff', async () => {
    using scene = new NastyScene();
    await scene.start('echo half; kill -9 $$', [], 20);
    const runs = await scene.ended(2);
    expect(runs).toMatchObject([
      { outcome: 'failed', error_code: 'agent_exited', attempt: null },
      { outcome: 'failed', error_code: 'agent_exited', attempt: 1, retry_kind: 'failure' },
    ]);
    const [endedAt, startedAt] = [Number(runs[0]?.ended_at), Number(runs[1]?.started_at)];
    expect(startedAt - endedAt).toBeGreaterThanOrEqual(1500);
    await scene.check();
  });

  it('an agent that closes its output but keeps running is ended for its silence', async () => {
    using scene = new NastyScene();
    await scene.start('echo at work; exec > /dev/null 2>&1 <&-; exec >&- 2>&-; exec sleep 600', [
      '  turn_timeout_ms: 5000',
    ]);
    expect(await scene.ended()).toMatchObject([{ outcome: 'timed_out', error_code: 'agent_turn_timeout' }]);
    expect(leftIn(`${scene.place.folder}/workspaces`)).toEqual([]);
    await scene.check();
  });

  it('a hook before the run that hangs and ignores TERM is ended and fails the run', async () => {
    using scene = new NastyScene();
    // Only for the bad issue: the good one must not wait for its hook.
    const hook = `[ $BATON_ISSUE_IDENTIFIER = BAT-2 ] || { trap '' TERM; while :; do sleep 0.2; done; }`;
    await scene.start('echo never', [`hooks: {timeout_ms: 4000, before_run: ${JSON.stringify(hook)}}`]);
    expect(await scene.ended()).toMatchObject([{ outcome: 'failed', error_code: 'workspace_hook_timeout' }]);
    expect(leftIn(`${scene.place.folder}/workspaces`)).toEqual([]);
    await scene.check();
  });

  it('a hook after the run that hangs is ended and changes nothing', async () => {
    using scene = new NastyScene();
    const hook = '[ $BATON_ISSUE_IDENTIFIER = BAT-2 ] || { setsid sleep 600 & exec sleep 600; }';
    await scene.start('echo worked', [`hooks: {timeout_ms: 4000, after_run: ${JSON.stringify(hook)}}`]);
    expect(await scene.ended()).toMatchObject([{ outcome: 'succeeded' }]);
    expect(leftIn(`${scene.place.folder}/workspaces`)).toEqual([]);
    await scene.check();
  });
});
