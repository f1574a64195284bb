// @module-tag full
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { liveTest, soon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces } from '../../cli/run-baton.ts';
import { type FakeLinear, startFakeLinear } from '../../fake/linear/fake-linear.ts';
import { CodexDaemon, patientAgent, stopWithLinear, untilLet } from './codex-daemon.ts';

leaveNoPlaces();

/** An agent that would go on for ever. */
const gated = { turns: [{ steps: [{ say: 'one more thing' }, untilLet] }] };

describe('a Linear issue that changes during a turn', liveTest, () => {
  let linear: FakeLinear;
  let daemon: CodexDaemon;
  beforeAll(async () => {
    linear = await startFakeLinear();
    daemon = await CodexDaemon.start({
      env: { LINEAR_API_KEY: linear.apiKey },
      // Nobody asks Linear while a turn goes on: what a run learns it learns between two turns.
      settings: [
        `tracker: {kind: linear, project_slug: baton, required_labels: [baton], provider: {endpoint: "${linear.url}"}}`,
        `agent: {${patientAgent}}`,
      ],
      tickets: { unlabelled: gated, done: gated },
      prepare: (_place, names) => {
        for (const title of names) linear.addIssue({ title, labels: ['baton'] });
      },
    });
  }, 90_000);
  afterAll(() => stopWithLinear(daemon, linear), 90_000);

  const isAtWork = (name: string): Promise<void> =>
    soon(async () => {
      const { running } = await daemon.status();
      expect(running).toContainEqual(
        expect.objectContaining({ issue_identifier: daemon.idOf(name), last_message: 'one more thing' }),
      );
    });

  // @conforms T5
  it('gets no further turn when its required label is gone, and the run succeeds', async () => {
    await isAtWork('unlabelled');
    linear.updateIssue(daemon.idOf('unlabelled'), { labels: [] });
    daemon.letGoOn('unlabelled');
    expect(await daemon.endedRuns('unlabelled')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    expect(daemon.fake('unlabelled').sent('turn/start')).toHaveLength(1);
  });

  // @conforms T2
  it('gets no further turn when a person moved it to Done, and the run succeeds', async () => {
    await isAtWork('done');
    linear.updateIssue(daemon.idOf('done'), { state: 'Done' });
    daemon.letGoOn('done');
    expect(await daemon.endedRuns('done')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    expect(daemon.fake('done').sent('turn/start')).toHaveLength(1);
  });
});
