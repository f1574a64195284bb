// @module-tag full
import { describe, expect, it } from 'vitest';
import { liveTest, soon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces } from '../../cli/run-baton.ts';
import { asksByTool, elicitation, freeform, inputRequired, mayRun } from './asking-steps.ts';
import { handOver, patientAgent, ticket, useDaemon } from './codex-daemon.ts';

leaveNoPlaces();

const isPoll = ({ name }: { name: string }): boolean => name === 'tracker_poll';

describe('an agent that needs a person', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}, ask_timeout_ms: 1500}`],
    tickets: {
      needed: { turns: [{ steps: [inputRequired, { forever: true }] }] },
      elicited: { turns: [{ steps: [elicitation, { forever: true }] }] },
      later: { turns: [{ steps: [freeform(121)] }, { match: 'dark green', steps: [handOver] }] },
      moved: { turns: [{ steps: [freeform(122)] }] },
    },
  }));

  // @conforms A7
  it('asks a person when a turn reports that it needs input, then ends the run and holds the issue', async () => {
    expect(await daemon().held('needed')).toMatchObject({
      code: 'agent_input_required',
      reason: expect.stringContaining('Which door?'),
    });
    expect(await daemon().runs('needed')).toMatchObject([{ outcome: 'failed', error_code: 'agent_input_required' }]);
    // Whoever asks with an id is answered all the same.
    expect(daemon().fake('needed').answerTo('resp-1')).toMatchObject({ error: { code: -32_601 } });
  });

  // @conforms A8
  it('asks a person about an elicitation without an id, then ends the run and holds the issue', async () => {
    expect(await daemon().held('elicited')).toMatchObject({
      code: 'agent_input_required',
      reason: expect.stringContaining('Which size?'),
    });
    expect(await daemon().runs('elicited')).toMatchObject([{ outcome: 'failed', error_code: 'agent_input_required' }]);
  });

  // @conforms X2
  it('keeps an issue with an open question held across polls, and releases it when it moves away', async () => {
    const id = daemon().idOf('moved');
    await daemon().held('moved');
    const lastPoll = async (): Promise<string> => (await daemon().status()).jobs.find(isPoll).last_run_at;
    const before = await lastPoll();
    await daemon().tell('issue', 'edit', id, '--priority', '2');
    await soon(async () => expect(Date.parse(await lastPoll())).toBeGreaterThan(Date.parse(before)));
    expect(await daemon().held('moved')).toMatchObject({ code: 'agent_input_required' });
    expect(await daemon().runs('moved')).toHaveLength(1);
    await daemon().tell('issue', 'move', id, 'cancelled');
    await soon(async () => {
      const { held } = await daemon().status();
      expect(held.map((each: { issue_identifier: string }) => each.issue_identifier)).not.toContain(id);
    });
    expect(await daemon().runs('moved')).toHaveLength(1);
  });

  // @conforms daemon.2
  it('resumes the thread with an answer that comes after its run', async () => {
    await daemon().held('later');
    const id = daemon().idOf('later');
    const [first] = await daemon().runs('later');
    await daemon().tell('ask', 'answer', id, 'dark green');
    await soon(() => expect(daemon().fake('later').answerTo(900)).toBeDefined());
    expect(daemon().fake('later').sent('thread/resume')).toMatchObject([{ threadId: first?.session_id }]);
    const [, prompt] = daemon()
      .fake('later')
      .sent('turn/start')
      .map((each) => JSON.stringify(each.input));
    expect(prompt).toContain('Which colour?');
    expect(prompt).toContain('dark green');
    expect(prompt).not.toContain('Work on');
    const runs = await daemon().endedRuns('later');
    expect(runs).toMatchObject([{}, { outcome: 'succeeded', retry_kind: 'answered', session_id: first?.session_id }]);
    const { questions } = await daemon().tell('ask', 'list', '--all');
    expect(questions).toContainEqual(
      expect.objectContaining({
        issue_identifier: id,
        answer: expect.objectContaining({ delivered_to: runs[1]?.run_id }),
        state: expect.any(String),
      }),
    );
  });
});

describe('a person and a live agent', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}}`],
    codex: { keys: ['approval_policy: on-request'] },
    tickets: {
      asks: ticket(
        mayRun,
        freeform(121),
        {
          ask: {
            id: 0,
            method: 'mcpServer/elicitation/request',
            params: {
              serverName: 'shop',
              mode: 'form',
              message: 'How many?',
              _meta: null,
              requestedSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
            },
          },
        },
        asksByTool,
      ),
      needs: { turns: [{ steps: [inputRequired, { forever: true }] }, { match: 'the blue one', steps: [handOver] }] },
      steered: {
        turns: [{ steps: [{ say: 'at it' }, { forever: true }] }, { match: 'the door is open', steps: [handOver] }],
      },
    },
  }));

  // @conforms daemon.1
  it('lets the turn continue when the person answers in words, sent to Codex in its schema', async () => {
    expect(await daemon().answer('asks', 'gh pr view', 'yes')).toMatchObject({ state: 'agent_waits', kind: 'command' });
    expect(await daemon().answer('asks', 'Which colour?', 'dark green')).toMatchObject({ kind: 'input' });
    expect(await daemon().answer('asks', 'How many?', '3')).toMatchObject({ fields: [{ name: 'count' }] });
    expect(await daemon().answer('asks', 'Left or right?', '2')).toMatchObject({
      fields: [{ options: ['left', 'right'] }],
    });
    expect(await daemon().endedRuns('asks')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    const fake = daemon().fake('asks');
    expect(fake.answerTo(99)).toEqual({ id: 99, result: { decision: 'accept' } });
    expect(fake.answerTo(121)).toEqual({ id: 121, result: { answers: { which: { answers: ['dark green'] } } } });
    expect(fake.answerTo(0)).toEqual({ id: 0, result: { action: 'accept', content: { count: 3 }, _meta: null } });
    expect(fake.answerTo(130)).toEqual({
      id: 130,
      result: { success: true, contentItems: [{ type: 'inputText', text: 'right' }] },
    });
  });

  // @conforms A7
  it('answers a turn that needs input while its agent lives, which continues in the next turn of the same thread', async () => {
    await daemon().answer('needs', 'Which door?', 'the blue one');
    expect(await daemon().endedRuns('needs')).toMatchObject([{ outcome: 'succeeded', turns: 2, retry_kind: null }]);
    const fake = daemon().fake('needs');
    expect(fake.sent('turn/interrupt')).toHaveLength(1);
    const [first, second] = fake.sent('turn/start');
    expect(second?.threadId).toBe(first?.threadId);
    expect(JSON.stringify(second?.input)).toContain('the blue one');
    expect(fake.sent('thread/resume')).toEqual([]);
  });

  // @conforms daemon.3
  it('lets the person steer a turn, take the thread over and hand it back', async () => {
    const id = daemon().idOf('steered');
    const fake = daemon().fake('steered');
    await soon(async () => {
      const { running } = await daemon().status();
      expect(running).toContainEqual(expect.objectContaining({ issue_identifier: id, last_message: 'at it' }));
    });
    await daemon().tell('steer', id, 'mind the step');
    await soon(() => expect(fake.sent('turn/steer')).toHaveLength(1));
    const [first] = await daemon().runs('steered');
    expect(fake.sent('turn/steer')).toMatchObject([
      {
        threadId: first?.session_id,
        expectedTurnId: expect.stringMatching(/^turn-/),
        input: [{ type: 'text', text: expect.stringContaining('mind the step') }],
      },
    ]);

    const workspace = `${daemon().place.folder}/workspaces/${id}`;
    expect(await daemon().tell('takeover', id)).toMatchObject({
      takeover: {
        run_ended: true,
        workspace_path: workspace,
        resume_command: `cd ${workspace} && codex resume --no-daemon --sandbox workspace-write -c 'projects={"${workspace}"={trust_level="untrusted"}}' ${first?.session_id}`,
      },
    });
    expect(fake.sent('turn/interrupt')).toHaveLength(1);
    expect(await daemon().held('steered')).toMatchObject({ code: 'taken_over' });

    await daemon().tell('handback', id, '--note', 'the door is open');
    await soon(() => expect(fake.answerTo(900)).toBeDefined());
    expect(fake.sent('thread/resume')).toMatchObject([{ threadId: first?.session_id }]);
    const prompt = JSON.stringify(fake.sent('turn/start')[1]?.input);
    expect(prompt).toContain('the door is open');
    expect(await daemon().endedRuns('steered')).toMatchObject([
      { outcome: 'canceled_by_reconciliation' },
      { outcome: 'succeeded', retry_kind: 'handed_back', session_id: first?.session_id },
    ]);
  });
});
