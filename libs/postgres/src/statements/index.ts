export { noStatement, runStatements, statement, together, type Statements } from './statements.js';
