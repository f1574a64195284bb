import { describe, expect, it } from 'vitest';
import { childEnvironment, usualVariables } from '../../src/process/child-environment.ts';
import { allLines, endChildrenAfterEachTest, startProgram, testEnv } from './real-children.ts';

endChildrenAfterEachTest();

const daemon = {
  PATH: '/bin',
  LC_ALL: 'C',
  LC_TIME: 'C',
  LINEAR_API_KEY: 'lin_1',
  AWS_SECRET: 'aws_1',
  EMPTY: undefined,
};

describe('child environment', () => {
  it('contains only allowed variables, by name or by prefix', () => {
    expect(childEnvironment({ from: daemon, allow: usualVariables, deny: [] })).toEqual({
      PATH: '/bin',
      LC_ALL: 'C',
      LC_TIME: 'C',
    });
  });

  it('prefers added variables to those of the daemon', () => {
    const env = childEnvironment({ from: daemon, allow: ['PATH'], deny: [], add: { PATH: '/opt', BATON_X: '1' } });
    expect(env).toEqual({ PATH: '/opt', BATON_X: '1' });
  });

  // @conforms spec-15.3
  it('never contains denied variables, even if they are allowed or added', () => {
    const env = childEnvironment({
      from: daemon,
      allow: ['LINEAR_*', 'AWS_SECRET', 'PATH'],
      deny: ['LINEAR_API_KEY', 'AWS_*'],
      add: { LINEAR_API_KEY: 'lin_2' },
    });
    expect(env).toEqual({ PATH: '/bin' });
  });

  it('matches a prefix only with its star', () => {
    expect(childEnvironment({ from: { LC_ALL: 'C', PATHS: 'x' }, allow: ['LC', 'PATH'], deny: [] })).toEqual({});
  });

  it('is the complete environment of a real child, plus both markers', async () => {
    process.env.BATON_TEST_SECRET = 'must not be seen';
    try {
      const env = { ...testEnv, ADDED: 'a b\nc' };
      const markers = { runId: 'run-of-env', daemonId: 'daemon-of-env' };
      const live = await startProgram('marker_sweep', { command: 'env', args: ['-0'], env, ...markers });
      const [line, ...more] = await allLines(live);
      const seen = [line, ...more]
        .map((one) => one?.text)
        .join('\n')
        .split('\0')
        .filter(Boolean);
      expect(seen.sort()).toEqual(
        [
          ...Object.entries(env).map(([k, v]) => `${k}=${v}`),
          'BATON_RUN_ID=run-of-env',
          'BATON_DAEMON_ID=daemon-of-env',
        ].sort(),
      );
    } finally {
      delete process.env.BATON_TEST_SECRET;
    }
  });
});
