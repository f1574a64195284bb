import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { Place } from './run-baton.ts';

/**
 * One program for every role. It does what the issue says for its phase: `PHASE: artifact | skip_to`. The judge rejects an
 * artifact with the word "vague".
 */
const agent = `import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) =>
  fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const protocolVersion = '2025-06-18';
const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } };
const opened = await post({ id: 1, method: 'initialize', params });
await opened.text();
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
const call = async (name, args) => {
  const answered = await post({ id: 2, method: 'tools/call', params: { name, arguments: args } }, session);
  return answered.text();
};
const judges = /You judge the artifact of the phase "(\\w+)"/.exec(prompt)?.[1];
const phase = /You work on the phase "(\\w+)"/.exec(prompt)?.[1];
const folder = process.argv[2];
appendFileSync(folder + '/prompts.txt', JSON.stringify({ judges, phase, prompt }) + '\\n');
if (judges !== undefined) {
  const judged = prompt.slice(prompt.indexOf('The artifact that you judge'));
  const finding = { problem: 'It is vague.', wanted: 'Name the files.' };
  await (judged.includes('vague')
    ? call('reject_phase', { summary: 'Not clear enough.', findings: [finding] })
    : call('approve_phase', { summary: 'Good.' }));
} else if (phase !== undefined) {
  const isRevision = prompt.includes('was sent back');
  const wish = new RegExp('^' + phase + (isRevision ? ' again' : '') + ': (.*)$', 'm').exec(prompt)?.[1] ?? 'plain';
  const [text, skipTo] = wish.split(' > ');
  mkdirSync('.baton', { recursive: true });
  writeFileSync('.baton/' + phase + '.md', '# Findings\\n\\n' + text + '\\n');
  if (prompt.includes('Commit the file')) {
    execFileSync('git', ['add', '.baton']);
    execFileSync('git', ['commit', '--quiet', '--message', phase]);
  }
  if (text !== 'silent') await call('complete_phase', { summary: text, ...(skipTo ? { skip_to: skipTo } : {}) });
} else {
  writeFileSync('work.txt', prompt);
  execFileSync('git', ['add', 'work.txt']);
  execFileSync('git', ['commit', '--quiet', '--message', 'Work']);
}
`;

export interface PipelineScene {
  readonly place: Place;
  readonly source: string;
}

/** A board with a repository and three phases, of which a judge reviews the second. */
export function pipelineScene(more: readonly string[] = [], place: Place = new Place({})): PipelineScene {
  const source = scratchRepository(`${place.folder}/project`);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('agent.mjs', agent);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  const command = `exec '${process.execPath}' '${place.folder}/agent.mjs' '${place.folder}'`;
  place.write(
    'WORKFLOW.md',
    [
      '---',
      'project: {name: phased}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
      'workspace: {root: workspaces, repo: project, base: main}',
      `agent: {backend: command, command: "${command}", isolation: none, after_success: review}`,
      'pipeline:',
      '  phases:',
      '    - {name: research, required_sections: [Findings]}',
      '    - {name: architecture, required_sections: [Findings], validation: judge}',
      '    - {name: grooming, required_sections: [Findings]}',
      ...more,
      '---',
      '{{ issue.description }}',
    ].join('\n'),
  );
  return { place, source };
}

export interface PromptSeen {
  readonly judges?: string;
  readonly phase?: string;
  readonly prompt: string;
}

export function promptsOf(place: Place): readonly PromptSeen[] {
  return place
    .read('prompts.txt')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PromptSeen);
}
