export { RouteDirectory } from './route.directory.js';
export { RouteEntity } from './route.entity.js';
export { routesInOrder, type Chance, type Route } from './route.js';
