// @module-tag full
import { describe, expect, it } from 'vitest';
import { liveTest } from '../../cli/live-daemon.ts';
import { leaveNoPlaces } from '../../cli/run-baton.ts';
import { freeform, mayCall, mayRun, toolQuestion } from './asking-steps.ts';
import { handOver, patientAgent, ticket, useDaemon } from './codex-daemon.ts';

leaveNoPlaces();

describe('approval_policy never', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}}`],
    codex: { keys: ['approval_policy: never'] },
    tickets: {
      approvals: ticket(mayRun, mayCall),
      early: { turns: [{ steps: [mayRun, { answerStart: true }, { say: 'begun late' }, handOver] }] },
      freeform: { turns: [{ steps: [freeform(120)] }] },
    },
  }));

  // @conforms A10
  it('allows a command for the session without asking a person, and the turn completes', async () => {
    expect(await daemon().endedRuns('approvals')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    expect(daemon().fake('approvals').answerTo(99)).toEqual({ id: 99, result: { decision: 'acceptForSession' } });
    expect(daemon().fake('approvals').sent('turn/start')).toMatchObject([{ approvalPolicy: 'never' }]);
    expect((await daemon().events('approvals')).map(({ event }) => event)).toContain('approval_auto_approved');
  });

  // @conforms A13
  it('approves a tool call for the session with the offered option', async () => {
    await daemon().untilEnded('approvals');
    expect(daemon().fake('approvals').answerTo(110)).toEqual({
      id: 110,
      result: { answers: { [toolQuestion]: { answers: ['Approve this Session'] } } },
    });
  });

  // @conforms X8
  it('answers a request that arrives before the reply to turn/start', async () => {
    expect(await daemon().endedRuns('early')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    expect(daemon().fake('early').answerTo(99)).toEqual({ id: 99, result: { decision: 'acceptForSession' } });
  });

  // @conforms A14
  it('does not answer a real question: the run ends at once and the issue is held with the question', async () => {
    expect(await daemon().held('freeform')).toMatchObject({
      code: 'agent_input_required',
      reason: expect.stringContaining('Which colour?'),
    });
    expect(await daemon().runs('freeform')).toMatchObject([{ outcome: 'failed', error_code: 'agent_input_required' }]);
    const { questions } = await daemon().tell('ask', 'list');
    expect(questions).toMatchObject([{ text: 'Which colour?', state: 'run_ended', kind: 'input' }]);
  });
});
