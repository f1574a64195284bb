/** What can go wrong with one answer. With `operation` it strikes only requests of that GraphQL operation. */
export type Fault = { readonly operation?: string } & (
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: 'garbage'; readonly body?: string }
  /** `before_head`: no answer at all; `in_body`: the head and half of the body. */
  | { readonly kind: 'cut'; readonly where: 'before_head' | 'in_body' }
  /** Linear's own is a 400. Without `resetAt` no header tells when it ends. */
  | {
      readonly kind: 'rate_limit';
      readonly resetAt?: number;
      readonly retryAfterSeconds?: number;
      readonly status?: 400 | 429 | 200;
    }
  /** Errors beside the data that there is, or instead of it. */
  | {
      readonly kind: 'graphql_errors';
      readonly data: 'whole' | 'null';
      readonly message?: string;
      readonly code?: string;
    }
);

/** The switches of a fake Linear. All can be set while it runs; nothing is wrong in the beginning. */
export interface Faults {
  /** Before every answer, by the core's `wait`. */
  latencyMs: number;
  /** Nothing is reached and nothing is logged. */
  down: boolean;
  /** Strikes every answer. */
  always: Fault | null;
  /** Each strikes one answer, in turn; those before `always`. */
  readonly next: Fault[];
  /** Strikes the answer with this page of a listing, by the field's own name and not its alias: `issues`, page 2. */
  page: { readonly field: string; readonly page: number; readonly fault: Fault } | null;
  /** Called before a second or later page is read, so that a test can change the world between two pages. */
  betweenPages: ((field: string, page: number) => void | Promise<void>) | null;
  /** By the field's own name. `missing`: more is announced without a cursor. `stuck`: always the same cursor. */
  readonly endCursor: Map<string, 'missing' | 'stuck'>;
  /** By the id of an issue: what becomes of its record wherever it is answered in a listing or alone. */
  readonly malformed: Map<string, Malformation>;
  /** All is well again. */
  clear(): void;
}

/** Gets the record as it was asked for and gives what is sent instead. */
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

/** The fault that strikes this request, if any; one of `next` is used up by it. */
export function takeFault(faults: Faults, operation: string | null): Fault | null {
  const isMeant = (fault: Fault): boolean => fault.operation === undefined || fault.operation === operation;
  const at = faults.next.findIndex(isMeant);
  if (at >= 0) return faults.next.splice(at, 1)[0] ?? null;
  return faults.always !== null && isMeant(faults.always) ? faults.always : null;
}
