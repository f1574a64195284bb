// @module-tag full
import path from 'node:path';
import { expect, it } from 'vitest';
import { startFakeGithub } from '../fake/github/fake-github.ts';
import { scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere } from './baton-here.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

it('baton doctor asks GitHub about the branches that workspace.branch names', async () => {
  using place = new Place({ GITHUB_TOKEN: 'ghp_fakeTokenOfBaton0123456789' });
  const source = scratchRepository(path.join(place.folder, 'project'));
  await using github = await startFakeGithub({ folder: place.folder, from: source });
  const file = (branch: string, repository = 'acme/app') =>
    place.replace(
      'WORKFLOW.md',
      [
        '---',
        'tracker: {kind: board}',
        `workspace: {root: workspaces, repo: project, branch: "${branch}/{{ issue.identifier }}"}`,
        'agent: {backend: command, command: "true", after_success: review}',
        `review: {host: github, repository: ${repository}, api_url: "${github.apiUrl}"}`,
        '---',
        'Work.',
      ].join('\n'),
    );
  const findings = async () => {
    const { stdout } = await batonHere(place, 'doctor', 'WORKFLOW.md', '--json');
    const { findings: all } = JSON.parse(stdout) as { findings: { check: string; code: string }[] };
    return all.filter(({ check }) => check.startsWith('github')).map(({ check, code }) => [check, code]);
  };
  Object.assign(github.rules, { branches: ['creation'], prefix: 'work/' });
  place.write('WORKFLOW.md', '');
  file('baton');
  expect(await findings()).toEqual([
    ['github_token', 'ok'],
    ['github_repository', 'ok'],
    ['github_base', 'ok'],
    ['github_push', 'ok'],
  ]);
  file('work');
  expect((await findings()).at(-1)).toEqual(['github_push', 'protected_branches']);
  file('baton', 'acme/other');
  expect(await findings()).toEqual([['github', 'github_not_found']]);
  expect(github.pulls).toEqual([]);
  expect(github.complaints).toEqual([]);
});
