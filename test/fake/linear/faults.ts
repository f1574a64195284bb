/**
 * A fault of one answer. With `operation` it affects only requests of that GraphQL operation, with `skip` only after that
 * many of them.
 */
export type Fault = { readonly operation?: string; readonly skip?: number } & (
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: 'garbage'; readonly body?: string }
  /** `before_head`: no answer at all; `in_body`: the head and half of the body. */
  | { readonly kind: 'cut'; readonly where: 'before_head' | 'in_body' }
  /** Linear itself answers 400. Without `resetAt` no header says when it ends. */
  | {
      readonly kind: 'rate_limit';
      readonly resetAt?: number;
      readonly retryAfterSeconds?: number;
      readonly status?: 400 | 429 | 200;
    }
  /** Errors together with the data, or instead of it. */
  | {
      readonly kind: 'graphql_errors';
      readonly data: 'whole' | 'null';
      readonly message?: string;
      readonly code?: string;
    }
);

/** The faults of a fake Linear. All can be set while it runs; by default there are none. */
export interface Faults {
  /** Before every answer, by the core's `wait`. */
  latencyMs: number;
  /** Linear cannot be reached, and nothing is logged. */
  down: boolean;
  /** Affects every answer. */
  always: Fault | null;
  /** Each affects one answer, in order, before `always`. */
  readonly next: Fault[];
  /** Affects the answer with this page of a listing, by the name of the field and not its alias: `issues`, page 2. */
  page: { readonly field: string; readonly page: number; readonly fault: Fault } | null;
  /** Called before a second or later page is read, so that a test can change the world between two pages. */
  betweenPages: ((field: string, page: number) => void | Promise<void>) | null;
  /** By the field's own name. `missing`: more is announced without a cursor. `stuck`: always the same cursor. */
  readonly endCursor: Map<string, 'missing' | 'stuck'>;
  /** Changes to the record of an issue, by its id, in every answer that contains it. */
  readonly malformed: Map<string, Malformation>;
  /** Removes all faults. */
  clear(): void;
}

/** Takes the requested record and returns what is sent instead. */
export type Malformation = (record: Readonly<Record<string, unknown>>) => unknown;

export const malformations = {
  nullTitle: (record) => ({ ...record, title: null }),
  withoutState: ({ state: _, ...record }) => record,
  wrongTypes: (record) => ({ ...record, title: 7, labels: 'none', createdAt: true, priority: 'high' }),
  nullNode: () => null,
} satisfies Record<string, Malformation>;

/** The cursor of a listing that is stuck. */
export const stuckCursor = 'c3R1Y2s';

export function noFaults(): Faults {
  const faults: Faults = {
    latencyMs: 0,
    down: false,
    always: null,
    next: [],
    page: null,
    betweenPages: null,
    endCursor: new Map(),
    malformed: new Map(),
    clear: () => {
      Object.assign(faults, { latencyMs: 0, down: false, always: null, page: null, betweenPages: null });
      faults.next.length = 0;
      faults.endCursor.clear();
      faults.malformed.clear();
    },
  };
  return faults;
}

/** The fault of this request, if any; it uses up one of `next`. */
export function takeFault(faults: Faults, operation: string | null): Fault | null {
  const isMeant = (fault: Fault): boolean => fault.operation === undefined || fault.operation === operation;
  const at = faults.next.findIndex(isMeant);
  const next = faults.next[at];
  if (next?.skip !== undefined && next.skip > 0) {
    faults.next[at] = { ...next, skip: next.skip - 1 };
    return null;
  }
  if (at >= 0) return faults.next.splice(at, 1)[0] ?? null;
  return faults.always !== null && isMeant(faults.always) ? faults.always : null;
}
