import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isInputObjectType,
  Kind,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  parseConstValue,
  print,
  specifiedRules,
  TypeInfo,
  type VariableValues,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type IssueFilter, inProject } from '../read/issue-filters.ts';
import { projectSchema } from './project-schema.ts';

/** A document that stays inside the project, provided that everything it names is in the project. */
export interface Narrowed {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly named: Named;
  /** Texts that the document writes: named as in the document, or by the new id that it has been given. */
  readonly written: readonly WrittenName[];
}

export interface WrittenName {
  readonly kind: 'issue' | 'comment';
  readonly name: string;
}

/**
 * Everything that a document names, each once, wherever it stands: written out, in a variable, as a default, deep in an
 * input.
 */
export type Named = Readonly<Record<Mark, ReadonlySet<string>>>;

const marks = ['issue', 'comment', 'project', 'team', 'changed', 'idle', 'label'] as const;
type Mark = (typeof marks)[number];
type Finds = Readonly<Record<Mark, Set<string>>>;

/** Most tokens of a document: checking it blocks the daemon. */
const mostTokens = 4_000;

/** Linear itself checks whether fields collide, and the check is slow. */
const rules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/**
 * Reads a document as Linear would, by the part of its schema that stays inside the project. What must hold:
 *
 * - Baton sends exactly the checked document: it prints it again from its parsed form, and sends only declared variables,
 *   with the values that their types accepted.
 * - Every fragment is read, used or not. Every operation is read, and there may be only one, so that no other one can
 *   be chosen.
 * - A narrowed filter stays narrowed whatever it contains: it is joined by `and`, never merged.
 * - What it creates gets an id from Baton, so that it is known before it is sent.
 * - A document that cannot be read or is not allowed is refused: the result is the list of reasons.
 */
export function narrowDocument(
  query: string,
  variables: Readonly<Record<string, unknown>>,
  projectSlug: string,
  newId: () => string,
): Narrowed | readonly string[] {
  try {
    const document = parse(query, { maxTokens: mostTokens, noLocation: true });
    const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
    const [operation] = operations;
    if (operation === undefined) return ['There is no operation in the document.'];
    if (operations.length > 1) return ['There are several operations in the document: send one at a time.'];
    const problems = validate(projectSchema(), document, rules, { maxErrors: 10 });
    if (problems.length > 0) return problems.map(({ message }) => message);
    const read = getVariableValues(projectSchema(), operation.variableDefinitions ?? [], variables, { maxErrors: 10 });
    if (read.errors !== undefined) return read.errors.map(({ message }) => message);
    return narrowed(document, operation, read.variableValues, { projectSlug, newId });
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return [thrown.message];
    // A document nested too deep for this parser is refused.
    if (thrown instanceof RangeError) return ['The document or its variables are nested too deep.'];
    throw thrown;
  }
}

function narrowed(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: VariableValues,
  { projectSlug, newId }: { readonly projectSlug: string; readonly newId: () => string },
): Narrowed {
  const types = new TypeInfo(projectSchema());
  const named: Finds = Object.fromEntries(marks.map((mark) => [mark, new Set()])) as unknown as Finds;
  const written: WrittenName[] = [];
  /** Variables that are the input of something new, each with its id. */
  const newIds = new Map<string, string>();
  /** Variables that are a whole filter, each with the filter to use when the variable has no value. */
  const filters = new Map<string, IssueFilter>();
  const forced = visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.FIELD]: {
        leave: (node): FieldNode | undefined => {
          const field = types.getFieldDef();
          // An unknown field stops here, even if validation let it pass.
          if (!field) throw new GraphQLError(`Cannot query field "${node.name.value}".`);
          collectFromField(field, node, values, named);
          written.push(...writtenBy(field, node, values));
          const kind = creates[field.name];
          if (kind === undefined) return withForcedFilters(field, node, filters, projectSlug);
          const id = newId();
          written.push({ kind, name: id });
          return withNewId(node, id, newIds);
        },
      },
    }),
  );
  const sent = visit(forced, {
    [Kind.VARIABLE_DEFINITION]: (definition) => {
      if (!filters.has(definition.variable.name.value) || definition.type.kind === Kind.NON_NULL_TYPE) return undefined;
      const { defaultValue: _coerced, type, ...rest } = definition;
      return { ...rest, type: { kind: Kind.NON_NULL_TYPE, type } };
    },
  });
  const given = Object.fromEntries(
    (operation.variableDefinitions ?? []).flatMap(({ variable }): [string, unknown][] => {
      const name = variable.name.value;
      const id = newIds.get(name);
      const own = values.coerced[name];
      const value = id === undefined ? (own ?? filters.get(name) ?? own) : { ...(own as object), id };
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return { query: print(sent), variables: given, named, written };
}

function collectFromField(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  values: VariableValues,
  named: Finds,
): void {
  const given = getArgumentValues(field, node, values);
  for (const argument of field.args) collect(argument, given[argument.name], named);
}

/** Mutations that create a text. */
const creates: Readonly<Record<string, WrittenName['kind']>> = { issueCreate: 'issue', commentCreate: 'comment' };

/** The text that a field changes, by the name in the document. */
function writtenBy(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  values: VariableValues,
): readonly WrittenName[] {
  if (field.name !== 'issueUpdate' && field.name !== 'commentUpdate') return [];
  const { id, input } = getArgumentValues(field, node, values) as { id: string; input: Record<string, unknown> };
  if (field.name === 'commentUpdate') return [{ kind: 'comment', name: id }];
  return Object.hasOwn(input, 'title') || Object.hasOwn(input, 'description') ? [{ kind: 'issue', name: id }] : [];
}

/** Linear takes the id of something new from its input. */
function withNewId(node: FieldNode, id: string, newIds: Map<string, string>): FieldNode | undefined {
  const given = node.arguments?.find(({ name }) => name.value === 'input');
  if (given?.value.kind === Kind.VARIABLE) {
    newIds.set(given.value.name.value, id);
    return undefined;
  }
  if (given?.value.kind !== Kind.OBJECT) throw new GraphQLError(`"${node.name.value}" needs an input.`);
  const field: ObjectFieldNode = {
    kind: Kind.OBJECT_FIELD,
    name: { kind: Kind.NAME, value: 'id' },
    value: { kind: Kind.STRING, value: id },
  };
  const input = { ...given, value: { ...given.value, fields: [...given.value.fields, field] } };
  return { ...node, arguments: (node.arguments ?? []).map((each) => (each === given ? input : each)) };
}

/** Collects every marked name in a value that was read by its type. */
function collect(definition: GraphQLArgument | GraphQLInputField, value: unknown, named: Finds): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(definition, each, named);
    return;
  }
  for (const mark of marks) if (hasMark(definition, mark)) named[mark].add(String(value));
  const type = getNamedType(definition.type);
  if (!isInputObjectType(type)) return;
  if (type.name === 'IssueRelationCreateInput') named.changed.add(changedByRelation(value));
  for (const [name, part] of Object.entries(type.getFields())) {
    collect(part, (value as Readonly<Record<string, unknown>>)[name], named);
  }
}

/** A relation changes the issue that is blocked by it, or becomes a duplicate by it, or names another. */
function changedByRelation(input: unknown): string {
  const { type, issueId, relatedIssueId } = input as Readonly<Record<string, string>>;
  return String(type === 'blocks' ? relatedIssueId : issueId);
}

function withForcedFilters(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  filters: Map<string, IssueFilter>,
  projectSlug: string,
): FieldNode | undefined {
  const argument = field.args.find((each) => hasMark(each, 'inProject') || hasMark(each, 'ofWorkspace'));
  if (argument === undefined) return undefined;
  const force = hasMark(argument, 'inProject') ? inProject(projectSlug) : { team: { null: true } };
  const written = parseConstValue(toLiteral(force));
  const given = node.arguments?.find(({ name }) => name.value === argument.name)?.value;
  if (given?.kind === Kind.VARIABLE) filters.set(given.name.value, force);
  const filter: ArgumentNode = {
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: argument.name },
    value:
      given === undefined || given.kind === Kind.NULL
        ? written
        : {
            kind: Kind.OBJECT,
            fields: [
              {
                kind: Kind.OBJECT_FIELD,
                name: { kind: Kind.NAME, value: 'and' },
                value: { kind: Kind.LIST, values: [written, given] },
              },
            ],
          },
  };
  const others = (node.arguments ?? []).filter(({ name }) => name.value !== argument.name);
  return { ...node, arguments: [...others, filter] };
}

function hasMark({ astNode }: GraphQLArgument | GraphQLInputField, mark: string): boolean {
  return astNode?.directives?.some(({ name }) => name.value === mark) === true;
}

/** Prints a value of objects, strings and booleans as a GraphQL literal. */
function toLiteral(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, part]) => `${key}: ${toLiteral(part)}`)
    .join(', ')} }`;
}
