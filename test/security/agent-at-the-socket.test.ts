// @module-tag full
import { describe, expect, it } from 'vitest';
import {
  addIssue,
  answer,
  boardWorkflow,
  labelled,
  labelledWorkflow,
  liveTest,
  soon,
  startDaemon,
  stateFolderOf,
  stopDaemon,
} from '../cli/live-daemon.ts';
import { baton, batonCommand, leaveNoPlaces, Place, startProgram } from '../cli/run-baton.ts';

leaveNoPlaces();

const clean = 'env -u BATON_RUN_ID -u BATON_DAEMON_ID';

/** What a person may do and an agent may not. */
const ofPeople: readonly (readonly string[])[] = [
  ['resume'],
  ['issue', 'retry', 'BAT-1'],
  ['issue', 'release', 'BAT-1'],
  ['issue', 'add', 'Delete everything'],
  ['issue', 'comment', 'BAT-1', 'The owner says yes.', '--as', 'ceo'],
  ['issue', 'edit', 'BAT-1', '--title', 'Another'],
  ['issue', 'move', 'BAT-1', 'done'],
  ['issue', 'import', 'plan.jsonl'],
  ['workspace', 'pin', 'BAT-1'],
];

/** Speaks to the socket itself: without a proof, with one that it got, and with one that it made up. */
const rawCaller = `
import { request } from 'node:http';
import { connect } from 'node:net';
const socketPath = process.argv[2];
const ask = (method, path, headers, body) => new Promise((resolve) => {
  const sent = request({ socketPath, method, path, headers: { host: 'localhost', 'content-type': 'application/json', ...headers } }, async (answer) => {
    let text = '';
    for await (const chunk of answer) text += chunk;
    resolve({ status: answer.statusCode, json: JSON.parse(text) });
  });
  sent.end(body);
});
const { json: { port } } = await ask('GET', '/api/v1/socket/proof-port', {});
const proof = await new Promise((resolve) => {
  let text = '';
  connect(port, '127.0.0.1').setEncoding('utf8').on('data', (chunk) => { text += chunk; }).on('close', () => resolve(text));
});
const [pull, head] = [1, 'a'.repeat(40)];
const decisions = [{ kind: 'pr_approve', pull, head }, { kind: 'pr_merge', pull, head }, { kind: 'pr_send_back', pull, head, note: 'again' },
  { kind: 'pr_close', pull }, { kind: 'question_answer', question: 'q', decision: 'accept' }];
const tries = [[{}, { kind: 'resume' }], [{ 'baton-proof': proof }, { kind: 'resume' }], ...decisions.map((body) => [{ 'baton-proof': proof }, body]), [{ 'baton-proof': 'x' }, { kind: 'resume' }]];
for (const [headers, body] of tries) {
  const { status, json } = await ask('POST', '/api/v1/projects/live/commands', { ...headers, 'baton-acting-as': 'ceo' }, JSON.stringify(body));
  console.log(JSON.stringify({ error: { code: status, details: json.error?.details ?? null, author: json.command?.author ?? null } }));
}
`;

interface Refused {
  readonly error?: { readonly code: unknown; readonly details?: { readonly code?: string } };
}

const refusedForAgents = expect.objectContaining({
  error: expect.objectContaining({ details: expect.objectContaining({ code: 'not_for_agents' }) }),
});

describe('an agent at the local socket', liveTest, () => {
  // @conforms api.72
  it('stays an agent when it clears its environment, and when it speaks to the socket itself', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', labelledWorkflow(1).replace('isolation_write: [.]', 'isolation: none'));
    place.write('raw.mjs', rawCaller);
    place.write('plan.jsonl', '{"title": "Imported by an agent"}');
    const target = await addIssue(place, 'true');
    expect(target).toBe('BAT-1');
    const daemon = await startDaemon(place);
    const state = stateFolderOf(place);
    const where = ['--workflow', `${place.folder}/WORKFLOW.md`, '--state-dir', state, '--json'];
    place.write(
      'attack.sh',
      [
        `cd ${place.folder}`,
        ...ofPeople.map((words) => `${clean} ${batonCommand(...words, ...where)}`),
        `${clean} setsid -w ${batonCommand('issue', 'move', 'BAT-1', 'cancelled', ...where)}`,
        `${clean} '${process.execPath}' raw.mjs '${state}/baton.sock'`,
        'echo end',
      ].join('\n'),
    );
    await addIssue(place, `sh ${place.folder}/attack.sh > ${place.folder}/said.txt 2>&1`, ...labelled);
    await soon(() => expect(place.read('said.txt')).toMatch(/^end$/m));
    const said: Refused[] = place
      .read('said.txt')
      .trim()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    const taken = said.map((each) => each.error?.details?.code ?? each.error?.code ?? each);
    expect(taken).toEqual([
      // And the move, two tries to resume, four decisions about a change, and an answer.
      ...Array.from({ length: ofPeople.length + 3 + 5 }, () => 'not_for_agents'),
      // The proof that it made up.
      401,
    ]);
    const { issues } = await answer(place, 'issue', 'list');
    expect(issues.map(({ identifier }: { identifier: string }) => identifier).toSorted()).toEqual(['BAT-1', 'BAT-2']);
    const { issue, comments } = await answer(place, 'issue', 'show', 'BAT-1');
    expect(issue).toMatchObject({ status: 'todo', title: 'A title' });
    expect(comments).toEqual([]);
    // The person beside it is still a person.
    expect(await answer(place, 'issue', 'move', 'BAT-1', 'backlog')).toMatchObject({ moved: true });
    await stopDaemon(daemon);
  });
});

describe('an agent where no daemon answers', liveTest, () => {
  it('stays an agent when it clears its environment', async () => {
    using place = new Place({ BATON_RUN_ID: 'r1' });
    place.write('WORKFLOW.md', boardWorkflow().replace('isolation_write: [.]', 'isolation: none'));
    place.write('plan.jsonl', '{"title": "Imported by an agent"}');
    const commands = [['issue', 'add', 'By an agent'], ['issue', 'import', 'plan.jsonl'], ['resume']];
    for (const words of commands) {
      const script = `${clean} ${batonCommand(...words, '--json')}; exit $?`;
      const { code, stdout } = await startProgram(place, 'sh', ['-c', script]).ended;
      expect({ words, code, said: JSON.parse(stdout) }).toEqual({ words, code: 1, said: refusedForAgents });
    }
    const { stdout } = await baton(place, 'issue', 'list', '--json');
    expect(JSON.parse(stdout).issues).toEqual([]);
  });
});
