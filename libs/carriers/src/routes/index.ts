export { RouteDirectory } from './route.directory.js';
export { RouteEntity } from './route.entity.js';
export { routesInOrder, type RandomSource, type Route } from './route.js';
