import type { Chance } from '../clock/chance.ts';
import type { AdapterInit, InitAnswers } from '../core/adapter-init.ts';
import type { BackendProfile } from '../core/backend-profile.ts';
import type { Finding } from '../core/finding.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { Agent } from './agent.ts';
import type { AgentParts } from './launch-agent.ts';

/**
 * Everything that Baton knows about one agent backend. The folder of the backend exports it, `backends.ts` lists it, and
 * no other file names it. The profile defines its keys in a workflow file.
 */
export interface AgentBackend extends BackendProfile {
  /** Makes an agent for one account; the settings have passed the checks of the profile. */
  create(settings: Settings, parts: AgentParts, host: AgentHost): Agent;
  /** The checks of `baton doctor`. Never rejects, starts no turn and leaves nothing behind. */
  doctor(parts: AgentDoctorParts): Promise<readonly Finding[]>;
  readonly init: AgentInit;
  /** The shell command that opens the conversation of a session by hand; absent where no command can. */
  readonly resume?: (session: EndedSession, settings: Settings) => string | null;
  /**
   * What the agent needs beyond its workspace, with these settings; null settings: with any. Null for an arbitrary
   * program. `baton validate` shows it, and isolation allows it.
   */
  needs(settings: Settings | null): BackendNeeds | null;
  /** Its own means enforce a read-only session; for other agents only isolation does. `baton validate` shows it. */
  readonly hasReadOnlyMode: boolean;
  /** The agent commits its work: without a repository `baton doctor` and `baton init` warn that no branch has it. */
  readonly commitsWork: boolean;
  /** Its documentation: a page in docs/, with a heading where the page has other topics. */
  readonly docs: string;
}

/** The parts of Baton that a backend may use. */
export interface AgentHost {
  /** The version of Baton. */
  readonly version: string;
  readonly nodePath: string;
  /** The file `program.ts` in the folder of the backend, where it has one: a program that comes with Baton. */
  readonly program: string;
}

export interface AgentDoctorParts {
  readonly settings: Settings;
  readonly process: ProcessDeps;
  readonly chance: Chance;
  readonly host: AgentHost;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDir: string;
  /** Folders that exist and may be writable, the best first: near the workspaces, then for temporary files. */
  readonly scratchFolders: readonly string[];
  /** How a run with this account starts its agent. */
  partsFor(account: AccountSettings): AgentParts;
}

export interface AgentInit extends AdapterInit {
  /** Sections of its own in the file. */
  readonly section?: (answers: InitAnswers) => Readonly<Record<string, unknown>>;
  /** A sentence at the end of the prompt: how the agent reaches Baton's tools; absent where Baton connects it. */
  readonly toolsNote?: string;
  /** Its sandbox may write in the folder for temporary files, so workspaces must not be there. */
  readonly writesTemporaryFiles: boolean;
  /** Shell commands that a person runs before `baton doctor`. */
  readonly firstSteps?: readonly string[];
  /** What a person should know about the defaults that the file does not change. */
  readonly notes?: readonly string[];
  /** What is different on a machine that cannot isolate agents, where no agent should run commands without asking. */
  readonly withoutIsolation?: Partial<Pick<AgentInit, 'settings' | 'section' | 'comments' | 'notes'>>;
}

/** A session that has ended, with the facts that a person needs to continue it by hand. */
export interface EndedSession {
  readonly workspace: string;
  readonly threadId: string;
  /** The folder of the account; null: the backend's own default. */
  readonly home: string | null;
  /** The variables of the account that are no secrets; absent: it has none. */
  readonly env?: Readonly<Record<string, string>>;
  /** The git directory of the workspace where it is outside the workspace; null otherwise. */
  readonly gitDir: string | null;
}

export interface BackendNeeds {
  /** Files and folders that it reads and writes, `~` for the home directory; an account with a home has them there. */
  readonly paths: readonly string[];
  /** What it needs of the first of `paths`, a folder; absent: all of it. */
  readonly parts?: (workspace: string) => HomeParts;
  /** Words of its command that may be programs: names, and paths with `~` for the home directory. */
  readonly programs?: readonly string[];
  /** Hosts that it talks to with its usual model and login. */
  readonly hosts: readonly string[];
}

/**
 * The parts of an agent's own folder that a run needs, by their names in it. Isolation shows nothing else of the folder:
 * it has conversations of other projects, and settings with programs that run for the user outside of any isolation. So
 * only what a login and a conversation need keeps what the agent writes.
 */
export interface HomeParts {
  /** Files of its login, which it renews. */
  readonly logins: readonly string[];
  /** Folders of its conversations, with the folder that takes the place of each. They are made where they are missing. */
  readonly conversations: Readonly<Record<string, string>>;
  /** Files and folders that it reads; what it writes there, and to the further `paths`, ends with it. */
  readonly settings: readonly string[];
  /** Variables that lead an isolated program to its conversations: names of files in the folder. */
  readonly variables?: Readonly<Record<string, string>>;
}
