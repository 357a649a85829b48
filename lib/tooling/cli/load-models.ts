import { errors } from '../../errors.js'
import type { Model } from '../../model/define-model.js'
import { loadModule } from './load-module.js'

/**
 * Returns the models that a module exports, one by one or in lists, each of them once. Other exports are ignored.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if the module exports no models; also the errors of {@link loadModule}
 */
export async function loadModels (path: string): Promise<readonly Model[]> {
  const module = await loadModule(path, {
    command: 'migration', exporting: 'models', remedy: 'name the file first and the URL behind it'
  })
  const models = new Set(Object.values(module).flat().filter(isModel))
  if (models.size > 0) return [...models]
  throw new errors.InvalidOptions(`The module '${path}' exports no models: export what defineModel() returns, ` +
    'one by one or in a list')
}

function isModel (value: unknown): value is Model {
  return typeof value === 'object' && value !== null && 'columns' in value && 'byName' in value && 'table' in value
}
