export { RouteDirectory } from './route.directory.js';
export { RouteEntity } from './route.entity.js';
export { routesInOrder, type Route } from './route.js';
