import * as z from 'zod';

/**
 * An issue as Linear sends it, checked. A record without a required field (an id, an identifier, a title, a state, both
 * lists) is malformed. Any other field of the wrong type counts as absent.
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
  /** Names of the person who filed it. Null: an integration or a bot filed it, or Linear does not say. */
  readonly authorNames: readonly string[] | null;
  readonly labels: readonly string[];
  readonly relations: readonly LinearRelation[];
  readonly parent: { readonly id: string; readonly identifier: string } | null;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** It is archived or deleted: for Baton it does not exist. */
  readonly isArchivedOrDeleted: boolean;
}

/** A relation that leads to this issue. */
export interface LinearRelation {
  readonly type: string;
  readonly issue: { readonly id: string | null; readonly identifier: string | null; readonly state: string | null };
}

/** A usable record, or the id and the identifier of a malformed one, as far as they can be read. */
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

/** Another issue, as a blocker or a child. */
export const linkedIssue = z.object({
  id: optionalText,
  identifier: optionalText,
  state: z
    .object({ name: needed })
    .transform(({ name }) => name)
    .nullable()
    .catch(null),
});

export const relationNodes = z.array(
  z.object({
    type: z.string(),
    // Null for an issue that the key may not see: it exists, but its state is unknown.
    issue: linkedIssue
      .nullable()
      .catch(null)
      .transform((issue) => issue ?? unknownIssue),
  }),
);

/**
 * The names by which a workflow file may refer to an author. An issue that a bot filed has no author, even where it
 * acted for a person: it is unknown whose words it repeats.
 */
export const person = z
  .object({ id: needed, email: optionalText })
  .transform(({ id, email }) => {
    // Not the display name: any user may choose any name.
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
    parent: z.object({ id: needed, identifier: needed }).nullable().catch(null),
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
      isArchivedOrDeleted: (archivedAt ?? null) !== null || trashed === true,
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

/** The id of a reading, where it has one. */
export function idOf(reading: Reading): string | null {
  return 'record' in reading ? reading.record.id : reading.malformed;
}
