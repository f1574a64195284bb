import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { Place } from './run-baton.ts';

/** The beginning of a program that is an agent: `call` calls a tool of Baton and gives the answer, `tools` names them all. */
export const callsTools = `const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = async (body, more = {}) => {
  const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
  return { text: await answer.text(), id: answer.headers.get('mcp-session-id') ?? '' };
};
const protocolVersion = '2025-06-18';
let session = null;
const ask = async (method, params) => {
  if (session === null) {
    const opened = await post({ id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } } });
    session = { 'mcp-session-id': opened.id, 'mcp-protocol-version': protocolVersion };
  }
  return (await post({ id: 2, method, params }, session)).text;
};
const call = (name, args) => ask('tools/call', { name, arguments: args });
const tools = async () => [...(await ask('tools/list', {})).matchAll(/"name":"(\\w+)","description/g)].map((each) => each[1]).join(' ');
`;

export interface OwnAgent {
  readonly name: string;
  /** The program. Its first argument is the folder of the place. */
  readonly agent: string;
  /** Inside the braces of `polling.jobs`. */
  readonly jobs: string;
  /** Further keys of the section `agent`. */
  readonly agentKeys?: string;
  /** Further lines of the workflow file. */
  readonly lines: readonly string[];
}

/** A daemon on the board can work here, with a repository and a program of the test as its agent. */
export function ownAgentScene({ name, agent, jobs, agentKeys = '', lines }: OwnAgent): {
  readonly place: Place;
  readonly source: string;
} {
  const place = new Place({});
  const source = scratchRepository(`${place.folder}/project`);
  git(source, 'checkout', '--quiet', '--detach');
  place.write('agent.mjs', agent);
  place.write('home/.gitconfig', '[user]\n\tname = A Person\n\temail = person@example.invalid\n');
  const command = `exec '${process.execPath}' '${place.folder}/agent.mjs' '${place.folder}'`;
  place.write(
    'WORKFLOW.md',
    [
      '---',
      `project: {name: ${name}}`,
      'tracker: {kind: board}',
      `polling: {interval_ms: 300, jobs: {${jobs}}}`,
      'workspace: {root: workspaces, repo: project, base: main}',
      `agent: {backend: command, command: "${command}", isolation: none${agentKeys === '' ? '' : `, ${agentKeys}`}}`,
      ...lines,
      '---',
      '{{ issue.title }}',
    ].join('\n'),
  );
  return { place, source };
}
