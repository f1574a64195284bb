import { type Fields, isFields, listOf } from '../../wire/fields.ts';
import type { AskForApproval, SandboxMode, SandboxPolicy } from '../wire/protocol.ts';

/**
 * The approval policy of the workflow, in the form of the pinned Codex. Any policy goes to Codex unchanged: Codex
 * itself refuses unknown ones, by name. One form is translated, because it is the default of the specification and
 * Codex now refuses it: `{reject: {…: true}}` named what is not asked for, `{granular: {…: true}}` names what is. What
 * the old form did not know is not asked for either.
 */
export function approvalPolicyFor(policy: string | Fields): AskForApproval {
  // Neither text nor map is checked here: Codex judges it.
  if (typeof policy === 'string' || !isFields(policy.reject)) return policy as AskForApproval;
  const { reject } = policy;
  const isAskedFor = (name: string): boolean => reject[name] === false;
  return {
    granular: {
      sandbox_approval: isAskedFor('sandbox_approval'),
      rules: isAskedFor('rules'),
      skill_approval: isAskedFor('skill_approval'),
      request_permissions: isAskedFor('request_permissions'),
      mcp_elicitations: isAskedFor('mcp_elicitations'),
    },
  };
}

export interface SandboxRoots {
  readonly workspace: string;
  readonly writableRoots: readonly string[];
}

/**
 * The sandbox of a turn. The map of the workflow goes to Codex unchanged, except that a policy that lets the agent
 * write always includes the workspace and the directories of its session among its roots: without its git directory an
 * agent cannot commit. Without a map, turns use the sandbox of the thread.
 */
export function sandboxPolicyFor(policy: Fields | null, threadSandbox: string, roots: SandboxRoots): SandboxPolicy {
  // Codex allows no writes to a git directory unless it is a root itself: a root around it is not enough.
  const needed = [roots.workspace, `${roots.workspace}/.git`, ...roots.writableRoots];
  if (policy === null) return defaultPolicy(threadSandbox, needed);
  // Codex validates the map.
  if (policy.type !== 'workspaceWrite') return policy as SandboxPolicy;
  const writableRoots = [...new Set([...listOf(policy.writableRoots), ...needed])];
  return { ...policy, writableRoots } as SandboxPolicy;
}

function defaultPolicy(threadSandbox: string, needed: readonly string[]): SandboxPolicy {
  const mode = threadSandbox as SandboxMode;
  if (mode === 'read-only') return { type: 'readOnly', networkAccess: false };
  if (mode === 'danger-full-access') return { type: 'dangerFullAccess' };
  return {
    type: 'workspaceWrite',
    writableRoots: [...new Set(needed)],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  };
}

/** The sandbox of a turn as the command line of Codex names it; null where it has no name. */
export function sandboxModeOf(policy: Fields | null, threadSandbox: string): SandboxMode | null {
  const type = policy === null ? threadSandbox : policy.type;
  return modes.find((mode) => type === mode || type === camelCase(mode)) ?? null;
}

const modes: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access'];

const camelCase = (word: string): string => word.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
