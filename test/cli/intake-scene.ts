import { callsTools, ownAgentScene } from './own-agent.ts';
import type { Place } from './run-baton.ts';

/**
 * One program for all roles. As the agent of an intake it proposes an issue for each wish of the text, as a planner it splits
 * its issue in two, the second after the first; as a worker it commits a file.
 */
export const agent = `import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
appendFileSync(process.argv[2] + '/prompts.txt', JSON.stringify({ role: process.env.BATON_ROLE ?? 'worker', prompt }) + '\\n');
${callsTools}
const keepTools = async () => writeFileSync(process.argv[2] + '/tools.txt', await tools());
if (process.env.BATON_ROLE === 'intake') {
  if (prompt.includes('CRASH')) process.exit(7);
  if (prompt.includes('HANG')) {
    writeFileSync(process.argv[2] + '/at-work.txt', 'yes');
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  }
  const issues = [...prompt.matchAll(/^wish: (.*)$/gm)].map(([, title]) => ({
    title,
    description: 'Somebody wants this.',
    acceptance_criteria: [title + ' works'],
    duplicate_of: title === 'Dark mode' ? 'BAT-1' : null,
    ...(title === 'Undo' ? { labels: ['backend', 'urgent'], priority: 1 } : {}),
  }));
  await keepTools();
  await call('propose_issues', { issues });
} else if (process.env.BATON_ROLE === 'planner') {
  const subtasks = ['Lay the ground', 'Build on it'].map((title, at) => ({ title, description: title, blocked_by: at === 0 ? [] : [at] }));
  await keepTools();
  await call('create_subtasks', { summary: 'In two', subtasks });
} else {
  writeFileSync('work-' + process.env.BATON_ISSUE_IDENTIFIER + '.txt', prompt);
  execFileSync('git', ['add', '.']);
  execFileSync('git', ['commit', '--quiet', '--message', 'Work']);
}
`;

/** A daemon on the board can work here; `more` are lines of the workflow file. */
export function intakeScene(...more: readonly string[]): { readonly place: Place; readonly source: string } {
  const lines = ['intake: {runs_per_day: 3}', ...more];
  const agentKeys = 'after_success: review';
  return ownAgentScene({ name: 'intake', agent, jobs: 'pull_requests: {interval_ms: 1000}', agentKeys, lines });
}
