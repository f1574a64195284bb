import type { Adapters } from './table/setting-table.ts';

/** The machine as a workflow file may refer to it. Only `cli/` reads the real one. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly tmpDir: string;
  /** IANA name of the machine's time zone. */
  readonly timeZone: string;
}

/** All that the meaning of a workflow file depends on, apart from its text. */
export interface WorkflowContext extends Adapters {
  readonly surroundings: Surroundings;
}

/** Where relative paths and references of a file lead. */
export interface Place {
  readonly workflowDir: string;
  readonly surroundings: Surroundings;
}
