// @module-tag full
import { describe, expect, it } from 'vitest';
import { batonHere, daemonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  liveTest,
  refusal,
  runsOf,
  soon,
  startDaemon,
  stopDaemon,
  untilStatus,
} from './live-daemon.ts';
import { batonCommand, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

const rehearsal = (...steps: string[]): string => ['```rehearsal', ...steps, '```'].join('\n');
const asking = rehearsal('ask Which colour?', '| red', '| blue', 'run touch chosen', 'wait 60000');

function askingPlace(more = ''): Place {
  const place = new Place();
  const agent = `agent: {backend: rehearsal, approvals: ask, isolation_write: [.]${more}}`;
  place.write('WORKFLOW.md', boardWorkflow().replace(/^agent: .*$/m, agent));
  return place;
}

describe.concurrent('an agent that asks a running daemon', liveTest, () => {
  it('in its report file, as a program does, gets the answer in its next run', async () => {
    using place = new Place();
    const program = `p=$(cat); case "$p" in *teal*) touch painted; sleep 600;; *) echo '{"type":"question","question":"Which colour?"}' >> "$BATON_REPORT_FILE";; esac`;
    const agent = `agent: {backend: command, approvals: auto, command: ${JSON.stringify(program)}}`;
    place.write('WORKFLOW.md', boardWorkflow().replace(/^agent: .*$/m, agent));
    await addIssue(place, 'Paint the wall.');
    const daemon = await daemonHere(place);
    await untilStatus(place, { held: [{ code: 'agent_input_required' }] });
    expect((await answer(place, 'ask', 'list')).questions).toMatchObject([
      { state: 'run_ended', text: 'Which colour?' },
    ]);
    await answer(place, 'ask', 'answer', 'BAT-1', 'teal');
    await soon(async () => expect(await runsOf(place)).toMatchObject([{}, { retry_kind: 'answered', turns: 1 }]));
    await soon(() => expect(place.read('workspaces/BAT-1/painted')).toBe(''));
    await daemon.stop();
  });

  // @conforms runs.21
  it('continues with the answer in the same run, can be steered, taken over and handed back', async () => {
    using place = askingPlace();
    await addIssue(place, asking);
    const daemon = await startDaemon(place);
    await untilStatus(place, { questions: [{ issue_identifier: 'BAT-1', text: 'Which colour?' }] });

    const { questions } = await answer(place, 'ask', 'list');
    expect(questions).toMatchObject([{ issue_identifier: 'BAT-1', state: 'agent_waits', text: 'Which colour?' }]);
    const [{ asked_at: askedAt, waits_until: until, id }] = questions;
    expect(Date.parse(until) - Date.parse(askedAt)).toBe(900_000);
    const shown = (await batonHere(place, 'ask', 'show', 'BAT-1')).stdout;
    expect(shown).toMatch(new RegExp(` ${until.slice(0, 10)} ${until.slice(11, 19)}Z \\(1\\d min`));
    expect(shown).toContain(`baton ask answer ${id} `);
    expect((await batonHere(place, 'status')).stdout).toMatch(/Which colour\? · baton ask show BAT-1 /);
    expect((await batonHere(place, 'issue', 'show', 'BAT-1')).stdout).toContain(
      'Which colour? · baton ask show BAT-1\n',
    );
    expect(await answer(place, 'issue', 'show', 'BAT-1')).toMatchObject({
      open_questions: [{ id, text: 'Which colour?' }],
      last_run: { outcome: null },
    });
    expect((await batonHere(place, 'ask', 'list')).stdout).toContain(` ${until.slice(11, 16)}Z `);

    expect(await answer(place, 'ask', 'answer', 'BAT-1', 'BLUE')).toMatchObject({
      command: { status: 'done', code: 'answer_delivered' },
    });
    expect(await answer(place, 'ask', 'list')).toEqual({ questions: [] });
    await soon(() => expect(place.read('workspaces/BAT-1/chosen')).toBe(''));
    expect(await answer(place, 'steer', 'BAT-1', 'mind the step')).toMatchObject({
      command: { status: 'done', code: 'message_delivered' },
    });
    const script = `printf 'one\\n\\ntwo\\n' | ${batonCommand('steer', 'BAT-1', '-')}`;
    expect(await startProgram(place, 'sh', ['-c', script]).ended).toMatchObject({ code: 0, stderr: '' });
    await soon(async () => {
      const log = (await batonHere(place, 'runs', 'log', 'BAT-1')).stdout;
      expect(log).toContain('received: mind the step');
      expect(log).toMatch(/received: one\s+two/);
    });
    expect(await runsOf(place)).toMatchObject([{ outcome: null }]);

    const taken = await answer(place, 'takeover', 'BAT-1');
    expect(taken).toMatchObject({
      command: { status: 'done', code: 'taking_over_after_run' },
      takeover: { run_ended: true, workspace_path: `${place.folder}/workspaces/BAT-1`, resume_command: null },
    });
    const ended = await runsOf(place);
    expect(ended).toMatchObject([{ outcome: 'canceled_by_reconciliation', error_code: 'run_taken_over' }]);
    expect((await batonHere(place, 'runs', 'list')).stdout).toContain(ended[0]?.error_message);
    await untilStatus(place, { held: [{ issue_identifier: 'BAT-1', code: 'taken_over' }], running: [] });
    expect(await refusal(place, 'steer', 'BAT-1', 'hello')).toMatchObject({
      code: 'command_refused',
      details: { code: 'not_running', data: { hold_code: 'taken_over' } },
    });

    await answer(place, 'handback', 'BAT-1', '--note', 'the door is mended');
    await untilStatus(place, { held: [], running: [{ issue_identifier: 'BAT-1' }] });
    expect((await runsOf(place)).at(-1)).toMatchObject({ retry_kind: 'handed_back', outcome: null });
    await stopDaemon(daemon);
    expect(place.pids()).toEqual([]);
  });

  it('is held with its question without an answer in time, and continues when it is answered', async () => {
    using place = askingPlace(', ask_timeout_ms: 300');
    await addIssue(place, asking);
    const daemon = await daemonHere(place);
    await untilStatus(place, { held: [{ issue_identifier: 'BAT-1', code: 'agent_input_required' }], running: [] });
    const { questions } = await answer(place, 'ask', 'list');
    expect(questions).toMatchObject([{ state: 'run_ended', waits_until: null }]);
    expect((await batonHere(place, 'ask', 'show', 'BAT-1')).stdout).toContain(`baton ask answer ${questions[0].id} `);
    expect(await answer(place, 'ask', 'answer', 'BAT-1', '1')).toMatchObject({
      command: { status: 'done', code: 'continues_with_answer' },
    });
    await soon(async () => {
      expect((await runsOf(place)).map(({ retry_kind }) => retry_kind)).toEqual([null, 'answered']);
    });
    await daemon.stop();
  });
});
