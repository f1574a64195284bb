import { z } from 'zod';

/**
 * An issue as Linear sends it, checked. What Baton cannot do without (an id, an identifier, a title, a state, both lists)
 * makes a record malformed when it is missing; the rest is taken where it is of its kind and is otherwise not there.
 */
export interface LinearRecord {
  readonly id: string;
  readonly identifier: string;
  readonly title: string;
  readonly description: string | null;
  readonly priority: number | null;
  readonly state: string;
  readonly branchName: string | null;
  readonly url: string | null;
  readonly assigneeId: string | null;
  /** Of the person who filed it. Null: nobody did, an integration or a bot did, or Linear does not tell. */
  readonly authorNames: readonly string[] | null;
  readonly labels: readonly string[];
  readonly relations: readonly LinearRelation[];
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** It is in the archive or in the trash: to Baton it does not exist. */
  readonly isPutAway: boolean;
}

/** A relation that leads to this issue. */
export interface LinearRelation {
  readonly type: string;
  readonly issue: { readonly id: string | null; readonly identifier: string | null; readonly state: string | null };
}

/** A record that Baton can use, or the id and the identifier of one that it cannot, as far as they can be read. */
export type Reading =
  | { readonly record: LinearRecord }
  | { readonly malformed: string | null; readonly identifier: string | null };

const needed = z.string().refine((text) => text.trim() !== '');
export const optionalText = z.string().nullable().catch(null);
export const time = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((at) => Number.isFinite(at))
  .nullable()
  .catch(null);

export const labelNodes = z.array(z.object({ name: z.string() }).transform(({ name }) => name));

const unknownIssue = { id: null, identifier: null, state: null };

export const relationNodes = z.array(
  z.object({
    type: z.string(),
    // An issue that the key may not see: it is there, and nobody knows how it stands.
    issue: z
      .object({
        id: optionalText,
        identifier: optionalText,
        state: z
          .object({ name: needed })
          .transform(({ name }) => name)
          .nullable()
          .catch(null),
      })
      .nullable()
      .catch(null)
      .transform((issue) => issue ?? unknownIssue),
  }),
);

/**
 * By what a workflow file may call an author. What a bot filed has no author, also where it acted for a person: whose
 * words it repeats nobody knows.
 */
export const person = z
  .object({ id: needed, email: optionalText })
  .transform(({ id, email }) => {
    // Not what somebody calls himself: anybody may take any name.
    const names = [id, email].map((each) => each?.trim() ?? '').filter((each) => each !== '');
    return [...new Set(names)];
  })
  .nullable()
  .catch(null);

const recordOfLinear = z
  .object({
    id: needed,
    identifier: needed,
    title: needed,
    description: optionalText,
    priority: z.int().nullable().catch(null),
    state: z.object({ name: needed }),
    branchName: optionalText,
    url: optionalText,
    assignee: z.object({ id: needed }).nullable().catch(null),
    creator: person,
    botActor: z.unknown().optional(),
    labels: z.object({ nodes: labelNodes }),
    inverseRelations: z.object({ nodes: relationNodes }),
    createdAt: time,
    updatedAt: time,
    archivedAt: z.unknown(),
    trashed: z.unknown(),
  })
  .transform(
    ({ state, assignee, creator, botActor, labels, inverseRelations, archivedAt, trashed, ...rest }): LinearRecord => ({
      ...rest,
      state: state.name,
      assigneeId: assignee?.id ?? null,
      authorNames: (botActor ?? null) === null ? creator : null,
      labels: labels.nodes,
      relations: inverseRelations.nodes,
      isPutAway: (archivedAt ?? null) !== null || trashed === true,
    }),
  );

const nameless = { id: null, identifier: null };
const names = z
  .object({ id: needed.nullable().catch(null), identifier: needed.nullable().catch(null) })
  .catch(nameless);

export function readRecord(node: unknown): Reading {
  const parsed = recordOfLinear.safeParse(node);
  if (parsed.success) return { record: parsed.data };
  const { id, identifier } = names.parse(node);
  return { malformed: id, identifier };
}

/** The id of what was read, as far as it has one. */
export function idOf(reading: Reading): string | null {
  return 'record' in reading ? reading.record.id : reading.malformed;
}
