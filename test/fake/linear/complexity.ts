import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { defaultPageSize } from './page.ts';

/**
 * The complexity of a request, by Linear's documentation: a property 0.1, an object 1, and a connection multiplies its children
 * by the requested page size, or by 50. It counts possible records, not existing ones.
 */
export function complexityOf({ schema, operation, fragments, variables }: ComplexityFacts): number {
  const costOf = (selections: SelectionSetNode, parent: GraphQLNamedType): number =>
    selections.selections.reduce((sum, selection) => {
      if (isLeftOut(selection, variables)) return sum;
      if (selection.kind === Kind.FIELD) return sum + fieldCost(selection, parent);
      const [set, name] =
        selection.kind === Kind.INLINE_FRAGMENT
          ? [selection.selectionSet, selection.typeCondition?.name.value]
          : [
              fragments.get(selection.name.value)?.selectionSet,
              fragments.get(selection.name.value)?.typeCondition.name.value,
            ];
      const type = name === undefined ? parent : schema.getType(name);
      return set === undefined || type === undefined ? sum : sum + costOf(set, type);
    }, 0);

  const fieldCost = (field: FieldNode, parent: GraphQLNamedType): number => {
    const type = typeOfField(parent, field.name.value);
    if (type === null || field.selectionSet === undefined || !isCompositeType(type)) return propertyPoints;
    if (!type.name.endsWith('Connection')) return objectPoints + costOf(field.selectionSet, type);
    return pageSize(field, variables) * connectionCost(field.selectionSet, type) + pageInfoCost(field.selectionSet);
  };

  /** The complexity of one item: of `nodes` the object itself, of `edges` the parts of the edge. */
  const connectionCost = (selections: SelectionSetNode, connection: GraphQLNamedType): number =>
    selections.selections.reduce((sum, selection) => {
      if (selection.kind !== Kind.FIELD || selection.selectionSet === undefined) return sum;
      const type = typeOfField(connection, selection.name.value);
      if (type === null || selection.name.value === 'pageInfo') return sum;
      return sum + (selection.name.value === 'nodes' ? objectPoints : 0) + costOf(selection.selectionSet, type);
    }, 0);

  const root = schema.getRootType(operation.operation);
  return root === undefined || root === null ? 0 : costOf(operation.selectionSet, root);
}

export interface ComplexityFacts {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

const propertyPoints = 0.1;
const objectPoints = 1;

/** Once, however long the page is. */
function pageInfoCost(selections: SelectionSetNode): number {
  return selections.selections.reduce((sum, selection) => {
    if (selection.kind !== Kind.FIELD || selection.name.value !== 'pageInfo') return sum;
    return sum + objectPoints + propertyPoints * (selection.selectionSet?.selections.length ?? 0);
  }, 0);
}

function typeOfField(parent: GraphQLNamedType, name: string): GraphQLNamedType | null {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return null;
  const field = parent.getFields()[name];
  return field === undefined ? null : getNamedType(field.type);
}

/** By `@include` or `@skip`. */
function isLeftOut({ directives = [] }: SelectionNode, variables: Readonly<Record<string, unknown>>): boolean {
  return directives.some(({ name, arguments: args = [] }) => {
    const condition = args[0]?.value;
    const holds = condition?.kind === Kind.VARIABLE ? variables[condition.name.value] === true : isTrue(condition);
    return (name.value === 'include' && !holds) || (name.value === 'skip' && holds);
  });
}

function isTrue(condition: ValueNode | undefined): boolean {
  return condition?.kind === Kind.BOOLEAN && condition.value;
}

function pageSize(field: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  const size = field.arguments?.find(({ name }) => name.value === 'first' || name.value === 'last')?.value;
  if (size?.kind === Kind.INT) return Number(size.value);
  if (size?.kind !== Kind.VARIABLE) return defaultPageSize;
  const given = variables[size.name.value];
  return typeof given === 'number' ? given : defaultPageSize;
}
