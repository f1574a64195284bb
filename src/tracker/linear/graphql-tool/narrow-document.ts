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

/** A document that stays inside the project once everything that it names was found to be in there. */
export interface Narrowed {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly named: Named;
}

/** What a document names, each once, in whichever way: written out, in a variable, as a default, deep in an input. */
export type Named = Readonly<Record<Mark, ReadonlySet<string>>>;

const marks = ['issue', 'comment', 'project', 'team'] as const;
type Mark = (typeof marks)[number];
type Finds = Readonly<Record<Mark, Set<string>>>;

/** So many words and signs a document may have: what checks it takes its time from the daemon. */
const mostTokens = 4_000;

/** Whether two fields would collide is Linear's business, and takes long to tell. */
const rules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

/**
 * Reads a document as Linear would, by the part of its schema that stays inside the project. What must hold:
 *
 * - What is sent is what was checked: the document is written anew, and the variables are those that it declares, as
 *   their types read them.
 * - Every fragment is read, used or not; every operation, but there may only be one, so that nobody chooses another.
 * - A filter that is narrowed stays narrowed whatever it says: it is joined by `and`, never merged.
 * - What cannot be read, or is not allowed, is refused: the answer is the reasons.
 */
export function narrowDocument(
  query: string,
  variables: Readonly<Record<string, unknown>>,
  projectSlug: string,
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
    return narrowed(document, operation, read.variableValues, projectSlug);
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return [thrown.message];
    // Nested too deep for us is too deep for anybody.
    if (thrown instanceof RangeError) return ['The document or its variables are nested too deep.'];
    throw thrown;
  }
}

function narrowed(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: VariableValues,
  projectSlug: string,
): Narrowed {
  const types = new TypeInfo(projectSchema());
  const named: Finds = { issue: new Set(), comment: new Set(), project: new Set(), team: new Set() };
  /** Variables that are a whole filter, with what they are when they are nothing. */
  const filters = new Map<string, IssueFilter>();
  const forced = visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.FIELD]: {
        leave: (node): FieldNode | undefined => {
          const field = types.getFieldDef();
          // Nothing that is not known by now goes on, whatever let it pass.
          if (!field) throw new GraphQLError(`Cannot query field "${node.name.value}".`);
          collectFromField(field, node, values, named);
          return withForcedFilters(field, node, filters, projectSlug);
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
      const value = values.coerced[name] ?? filters.get(name) ?? values.coerced[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return { query: print(sent), variables: given, named };
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

/** Everything marked in a value that was read by its type. */
function collect(definition: GraphQLArgument | GraphQLInputField, value: unknown, named: Finds): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(definition, each, named);
    return;
  }
  for (const mark of marks) if (hasMark(definition, mark)) named[mark].add(String(value));
  const type = getNamedType(definition.type);
  if (!isInputObjectType(type)) return;
  for (const [name, part] of Object.entries(type.getFields())) {
    collect(part, (value as Readonly<Record<string, unknown>>)[name], named);
  }
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

/** A value of objects, texts and truths in GraphQL's own notation. */
function toLiteral(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, part]) => `${key}: ${toLiteral(part)}`)
    .join(', ')} }`;
}
