export { candidateRoutes, RouteDirectory, type CandidateRoute } from './route.directory.js';
export { type Route, RouteEntity, ROUTES } from './route.entity.js';
export { routesInOrder } from './route.js';
