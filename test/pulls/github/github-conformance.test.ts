import { afterEach, expect } from 'vitest';
import { pullRequestsConformance } from '../../conformance/pulls.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { type GithubScene, githubScene, stopGithubs } from './github-scene.ts';

const scenes: GithubScene[] = [];

afterEach(async () => {
  expect(scenes.splice(0).flatMap(({ github }) => github.complaints)).toEqual([]);
  await stopGithubs();
});

pullRequestsConformance('the GitHub host', async () => {
  const scene = await githubScene();
  scenes.push(scene);
  const { github, pulls, push, reset } = scene;
  const numberOf = (branch: string): number =>
    github.pulls.find((pull) => pull.branch === branch && pull.state === 'OPEN')?.number ?? 0;
  return {
    pulls,
    push,
    reset,
    tip: github.tip,
    mergeByPerson: (name, how) => {
      github.settle();
      if (how === 'fast_forward') reset('main', github.tip(name) ?? '');
      else expect(github.merge(numberOf(name), how, 'ada')).toBeNull();
    },
    remove: (name) => git(github.repository, 'update-ref', '-d', `refs/heads/${name}`),
    content: (name, file) => {
      try {
        return `${git(github.repository, 'show', `${name}:${file}`)}\n`;
      } catch {
        return null;
      }
    },
    words: (name) => {
      const { title = '', body = '' } = github.pulls.find((pull) => pull.branch === name) ?? {};
      return `${title}\n${body}`;
    },
    count: (name) => Number(git(github.repository, 'rev-list', '--count', name)),
  };
});
