import type { Adapters } from './table/setting-table.ts';

/** The parts of the machine that a workflow file may refer to. Only `cli/` reads the real ones. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** IANA name of the machine's time zone. */
  readonly timeZone: string;
  /** The root of the workspaces of a workflow file that names none. */
  readonly defaultRoot: (workflowPath: string) => string;
}

/** Everything that the meaning of a workflow file depends on, apart from its text. */
export interface WorkflowContext extends Adapters {
  readonly surroundings: Surroundings;
}

/** The base for relative paths and references of a file. */
export interface Place {
  readonly workflowDir: string;
  readonly surroundings: Surroundings;
}
