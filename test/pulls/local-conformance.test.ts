import { pullRequestsConformance } from '../conformance/pulls.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { pullScene } from './pull-scene.ts';

pullRequestsConformance('the local host', async () => {
  const scene = pullScene();
  const { source, desk, onBranch } = scene;
  return {
    ...scene,
    mergeByPerson: (name, how) => {
      git(desk, 'fetch', '-q', 'origin');
      if (how === 'rebase') {
        git(desk, 'checkout', '-q', '--detach', `origin/${name}`);
        git(desk, 'rebase', '-q', 'origin/main');
        git(desk, 'push', '-q', 'origin', 'HEAD:refs/heads/main');
      } else if (how === 'squash') {
        onBranch('main', ['merge', '-q', '--squash', `origin/${name}`], ['commit', '-q', '-m', 'squashed']);
      } else {
        onBranch('main', ['merge', '-q', how === 'merge' ? '--no-ff' : '--ff-only', '-m', 'by hand', `origin/${name}`]);
      }
    },
    reset: (name, commit) => git(source, 'update-ref', `refs/heads/${name}`, commit),
    remove: (name) => git(source, 'update-ref', '-d', `refs/heads/${name}`),
    content: (name, file) => {
      try {
        return `${git(source, 'show', `${name}:${file}`)}\n`;
      } catch {
        return null;
      }
    },
    count: (name) => Number(git(source, 'rev-list', '--count', name)),
  };
});
