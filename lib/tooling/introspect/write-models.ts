import { describeNotes } from './describe-notes.js'
import type { DatabasePlan, FieldPlan, ModelPlan, Note } from './model-plan.js'
import { importedTypes } from './names.js'
import { literal } from './source-text.js'

/** The languages of a file with models. A file in JavaScript is the same as one in TypeScript, but without types. */
export type Language = 'typescript' | 'javascript'

/**
 * Returns the text of a module that defines the models of a database, with the notes as comments. The module exports
 * each model by the name of its constant, and all of them as `models`.
 */
export function writeModels ({ models, leftOut }: DatabasePlan, language: Language = 'typescript'): string {
  const isTyped = language === 'typescript'
  // References to models that are defined earlier need no type annotation. JavaScript never needs one.
  const before = (index: number): readonly ModelPlan[] => isTyped ? models.slice(0, index) : models
  const parts = models.map((model, index) => writeModel(model, before(index), models))
  const types = models.flatMap((model, index) => annotations(model, before(index), models))
  const constants = models.map(({ constant }) => constant).join(', ')
  const list = `export const models = [${constants}]${isTyped ? ' as const' : ''}`
  return `${[writeImports(models, types), ...comments(leftOut), ...parts, list].join('\n\n')}\n`
}

/**
 * Returns the import statement of the file, or a comment if there are no models.
 *
 * @param types  the type annotations of the file
 */
function writeImports (models: readonly ModelPlan[], types: readonly string[]): string {
  const kinds = new Set(models.flatMap(({ key, fields }) =>
    [...key === undefined ? [] : [key.kind], ...fields.map(({ kind }) => kind)]))
  const names = [...[...kinds, ...models.length > 0 ? ['defineModel'] : []].sort(),
    ...importedTypes.filter((type) => types.some((text) => text.includes(`${type}<`))).map((type) => `type ${type}`)]
  return names.length === 0
    ? '// There is no table that can have a model.'
    : `import { ${names.join(', ')} } from 'fastify-rest-models'`
}

function annotations ({ fields }: ModelPlan, before: readonly ModelPlan[], all: readonly ModelPlan[]): string[] {
  return fields.flatMap((field) => targetsOf(field, all).map((target) => annotation(target, before)))
}

/**
 * Returns the type annotation for the function that gives a foreign key's target, such as `: Model<'User'>`. In a
 * circle of models the compiler cannot infer the type of the target. So the annotation states the target's name, by
 * which the typed client finds its fields, and the kind of its primary key if that is a UUID or a text.
 *
 * @param before  targets that need no annotation, so the result is an empty text: in TypeScript the models that are
 *   defined earlier, in JavaScript all models
 */
function annotation (target: ModelPlan, before: readonly ModelPlan[]): string {
  if (before.includes(target)) return ''
  const { name, key } = target
  return key?.kind === 'uuid' || key?.kind === 'text'
    ? `: Model<'${name}', { id: Field<'${key.kind}'> }>`
    : `: Model<'${name}'>`
}

/** Returns the model that a foreign key refers to, as a list of one. Returns an empty list for any other field. */
function targetsOf ({ target }: FieldPlan, all: readonly ModelPlan[]): readonly ModelPlan[] {
  return all.filter(({ table }) => table === target)
}

function writeModel (model: ModelPlan, before: readonly ModelPlan[], all: readonly ModelPlan[]): string {
  const { name, constant, key, fields, notes } = model
  const lines = [...key === undefined ? [] : [key], ...fields]
    .map((field) => `  ${field.name}: ${writeField(field, before, all)}`)
  const options = writeOptions(model)
  const definition = `export const ${constant} = defineModel('${name}', {\n${lines.join(',\n')}\n}${options})`
  return [...comments(notes), definition].join('\n')
}

function writeOptions ({ name, table, unique, keyFields }: ModelPlan): string {
  const groups = unique.map((names) => `[${names.map(literal).join(', ')}]`)
  const key = keyFields.map(literal).join(', ')
  const options = [
    ...table === name.toLowerCase() ? [] : [`table: ${literal(table)}`],
    ...keyFields.length === 0 ? [] : [`key: [${key}]`],
    ...groups.length === 0 ? [] : [`unique: [${groups.join(', ')}]`]
  ]
  return options.length === 0 ? '' : `, { ${options.join(', ')} }`
}

function writeField (field: FieldPlan, before: readonly ModelPlan[], all: readonly ModelPlan[]): string {
  const reference = targetsOf(field, all).map((target) => `()${annotation(target, before)} => ${target.constant}`)
  const said = Object.entries(field.options).map(([name, value]) => `${name}: ${literal(value)}`)
  return `${field.kind}(${[...reference, ...said.length === 0 ? [] : [`{ ${said.join(', ')} }`]].join(', ')})`
}

function comments (notes: readonly Note[]): string[] {
  return notes.length === 0 ? [] : [describeNotes(notes).map((line) => `// ${line}`).join('\n')]
}
