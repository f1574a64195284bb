import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codexProfile } from '../../../../src/agent/codex/profile.ts';
import { codexResumeCommand } from '../../../../src/agent/codex/resume-command.ts';
import { approvalPolicyFor, sandboxModeOf, sandboxPolicyFor } from '../../../../src/agent/codex/session/policies.ts';
import { loginShellText } from '../../../../src/agent/shell-text.ts';
import { runs } from '../../../property-runs.ts';

const room = { workspace: '/ws', writableRoots: ['/repo/.git'] };

describe('a policy of the workflow', () => {
  it.each(['never', 'on-request', '', { granular: { rules: true } }, { something: 'new' }])(
    'for approvals goes to Codex unchanged: %j',
    (policy) => {
      expect(approvalPolicyFor(policy)).toEqual(policy);
    },
  );

  it('in the form that Codex no longer accepts is translated: rejected requests are not asked for', () => {
    const granular = { skill_approval: false, request_permissions: false };
    expect(approvalPolicyFor({ reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } })).toEqual({
      granular: { ...granular, sandbox_approval: false, rules: false, mcp_elicitations: false },
    });
    expect(approvalPolicyFor({ reject: { sandbox_approval: false, rules: true } })).toEqual({
      granular: { ...granular, sandbox_approval: true, rules: false, mcp_elicitations: false },
    });
  });

  it('for the sandbox keeps every field and gains the roots that the session needs, each once', () => {
    const policy = { type: 'workspaceWrite', writableRoots: ['/cache', '/ws'], networkAccess: true, novel: 1 };
    const given = sandboxPolicyFor(policy, 'read-only', room);
    expect(given).toMatchObject({ type: 'workspaceWrite', networkAccess: true, novel: 1 });
    const { writableRoots } = given as { writableRoots: string[] };
    expect(writableRoots).toEqual(expect.arrayContaining(['/cache', '/ws', '/repo/.git']));
    expect(new Set(writableRoots).size).toBe(writableRoots.length);
    for (const other of [{ type: 'readOnly' }, { type: 'dangerFullAccess' }, { type: 'new' }]) {
      expect(sandboxPolicyFor(other, 'workspace-write', room)).toEqual(other);
    }
  });

  it('for the sandbox of a turn defaults to that of the thread, and is never wider', () => {
    expect(sandboxPolicyFor(null, 'workspace-write', room)).toMatchObject({
      type: 'workspaceWrite',
      networkAccess: false,
    });
    expect(sandboxPolicyFor(null, 'read-only', room)).toEqual({ type: 'readOnly', networkAccess: false });
    expect(sandboxPolicyFor(null, 'danger-full-access', room)).toEqual({ type: 'dangerFullAccess' });
  });
});

describe('shell text', () => {
  const printed = (text: string): string => execFileSync('bash', ['-c', text], { encoding: 'utf8' });

  it('keeps the command unchanged, and unsets only valid names', () => {
    expect(loginShellText('codex app-server', [])).toBe('codex app-server');
    const prefixed = `\${!P_@}`;
    expect(loginShellText('x "$Y"', ['A', '$(rm)', 'B C', 'P_*', ''])).toBe(`unset A ${prefixed} || exit 97; x "$Y"`);
  });

  it('opens a thread by hand, leaves no server behind, allows a commit and stores no trust', () => {
    const plain = { workspace: '/ws/a', threadId: '01a1', home: null, sandbox: 'workspace-write', gitDir: '/git/a' };
    const trust = `-c 'projects={"/ws/a"={trust_level="untrusted"}}'`;
    const line = (more: Partial<typeof plain | { sandbox: null; gitDir: null }>) =>
      codexResumeCommand({ ...plain, ...more });
    expect(line({})).toBe(
      `cd /ws/a && codex resume --no-daemon --sandbox workspace-write --add-dir /git/a ${trust} 01a1`,
    );
    expect(line({ gitDir: null })).toBe(`cd /ws/a && codex resume --no-daemon --sandbox workspace-write ${trust} 01a1`);
    expect(line({ sandbox: 'danger-full-access' })).toBe(
      `cd /ws/a && codex resume --no-daemon --sandbox danger-full-access ${trust} 01a1`,
    );
    expect(line({ sandbox: null })).toBe(`cd /ws/a && codex resume --no-daemon ${trust} 01a1`);
  });

  // @conforms runs.67
  it('opens a thread by hand with every word quoted', () => {
    const word = fc.string({ minLength: 1, unit: fc.constantFrom(...`ab '"$\`\\!*;&|<>~#(){}[]\n\u007f`) });
    fc.assert(
      fc.property(word, word, word, word, (workspace, threadId, home, gitDir) => {
        const line = codexResumeCommand({ workspace, threadId, home, gitDir, sandbox: 'workspace-write' });
        const stage = `cd() { printf '%s\\0' "$1"; }; codex() { printf '%s\\0' "$CODEX_HOME" "$@"; }; ${line}`;
        const [to, ...words] = printed(stage).split('\0');
        expect(to).toBe(workspace);
        const trust = words.splice(-3, 1)[0] ?? '';
        expect(words).toEqual([
          ...[home, 'resume', '--no-daemon', '--sandbox', 'workspace-write', '--add-dir', gitDir, '-c', threadId, ''],
        ]);
        expect(trust).not.toMatch(/[\n\u007f]/);
        const named = /^projects=\{("(?:[^"\\]|\\.)*")=\{trust_level="untrusted"\}\}$/.exec(trust)?.[1];
        expect(JSON.parse(named ?? 'null')).toBe(workspace);
      }),
      { numRuns: runs(40) },
    );
  });

  it.each([
    [null, 'workspace-write', 'workspace-write'],
    [null, 'read-only', 'read-only'],
    [null, 'odd', null],
    [{ type: 'workspaceWrite', networkAccess: true }, 'read-only', 'workspace-write'],
    [{ type: 'readOnly' }, 'workspace-write', 'read-only'],
    [{ type: 'dangerFullAccess' }, 'workspace-write', 'danger-full-access'],
    [{ type: 'externalSandbox' }, 'workspace-write', null],
    [{}, 'workspace-write', null],
  ])('has the sandbox of a turn: %j on %s is %s', (policy, thread, mode) => {
    expect(sandboxModeOf(policy, thread)).toBe(mode);
  });

  it('names only variables and folders that the workflow knows', () => {
    expect(codexProfile).toMatchObject({
      name: 'codex',
      environment: ['CODEX_*', 'OPENAI_*'],
      homeVariable: 'CODEX_HOME',
      reports: 'tokens',
    });
  });
});
