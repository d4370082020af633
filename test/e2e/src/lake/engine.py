"""Runs what docs/lake.md has for an engine, then queries; prints the rows of each query as a line of JSON.

Standard input: {"engine", "lines": of the page, "queries": SQL, in which {name} is a table}.
"""
import glob, importlib, json, sys

task = json.load(sys.stdin)
lines, queries = task["lines"], task["queries"]
TABLES = ("transactions", "receipts", "logs", "transfers")


def show(rows):
    print("rows " + json.dumps([["" if v is None else str(v) for v in row] for row in rows]), flush=True)


def named(query, form):
    return query.format(**{name: form.format(name) for name in TABLES})


def duckdb():
    connection = importlib.import_module("duckdb").connect()
    # The extensions are packages here.
    for name in ("avro", "httpfs", "iceberg"):
        folder = importlib.import_module("duckdb_extension_" + name).__path__[0]
        connection.execute("LOAD '" + glob.glob(folder + "/extensions/*/*.duckdb_extension")[0] + "'")
    for line in lines.splitlines()[1:]:
        rows = connection.execute(line).fetchall()
    show(rows)
    for query in queries:
        show(connection.execute(named(query, "chain.ethereum.{}")).fetchall())


def pyiceberg():
    names = {}
    exec(lines, names)
    polars = importlib.import_module("polars")
    frames = {}
    for name in TABLES:
        table = names["chain"].load_table("ethereum." + name)
        frames[name] = polars.scan_iceberg(table, storage_options=table.io.properties)
    context = polars.SQLContext(frames)
    show(names["top"].rows())
    for query in queries:
        show(context.execute(named(query, "{}")).collect().rows())


def spark():
    names = {}
    exec(lines, names)
    show(names["top"].collect())
    for query in queries:
        show(names["spark"].sql(named(query, "chain.ethereum.{}")).collect())


def clickhouse():
    session = importlib.import_module("chdb.session").Session()
    read = lambda query: [json.loads(row) for row in str(session.query(query, "JSONCompactEachRow")).splitlines()]
    for line in lines.splitlines():
        rows = read(line)
    show(rows)
    for query in queries:
        show(read(named(query, "chain.`ethereum.{}`")))


globals()[task["engine"]]()
