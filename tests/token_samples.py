"""Texts of several kinds, and the tokens that Anthropic's published tokenizer makes of them.

That is the one of Claude 2, in the package anthropic 0.28: newer models have others that are not public.
"""

# ruff: noqa: E501 - each text is as a model gets it

SAMPLES = {
    "english": (
        """The revenue of the northern region fell by twelve percent in March, while every other region grew. Before we
blame the market, let us look at how the numbers came about: the export of the warehouse was changed on the third,
and since then rows without a customer id are dropped. I compared the file of February with the new one and found
about nine hundred orders that are missing, nearly all of them from two resellers in the north.

What I would like you to do: load both files, mark the orders that only the old export has, and tell me how much
revenue they stand for. If it explains most of the gap, write a short note that I can send to the data team; if it
does not, show me the ten customers whose orders shrank the most. Please do not change anything in the folder with
the raw files, and keep the names of the columns as they are, because the dashboard reads them.
""",
        200,
    ),
    "chinese": (
        """三月份北方地区的收入下降了百分之十二，而其他地区都在增长。在把原因归结为市场之前，我们先看看这些数字是怎么来的：
仓库的导出程序在三号改过一次，从那以后没有客户编号的记录会被丢掉。我把二月的文件和新的文件对比了一下，发现大约少了
九百个订单，几乎全部来自北方的两家经销商。

请你做这几件事：读入两个文件，标出只在旧文件里出现的订单，告诉我它们对应多少收入。如果这能解释大部分差额，就写一段
简短的说明，我可以直接发给数据团队；如果不能，就列出订单减少最多的十位客户。原始文件所在的目录里什么都不要改，列名
也保持不变，因为报表要按这些名字读取数据。
""",
        246,
    ),
    "code": (
        '''def monthly_revenue(orders: pd.DataFrame, *, by: str = "region") -> pd.DataFrame:
    """Return the revenue of each month as a table with one column for each value of `by`."""
    missing = {"date", "amount", by} - set(orders.columns)
    if missing:
        raise KeyError(f"columns are missing: {sorted(missing)}")
    dated = orders.assign(month=orders["date"].dt.to_period("M"))
    table = dated.pivot_table(index="month", columns=by, values="amount", aggfunc="sum", fill_value=0)
    return table.sort_index()


class Export:
    """One file of the warehouse; rows without a customer are kept."""

    def __init__(self, path: Path, *, encoding: str = "utf-8") -> None:
        self.path = path
        self._encoding = encoding
        self._rows: list[dict[str, str]] | None = None

    @property
    def rows(self) -> list[dict[str, str]]:
        if self._rows is None:
            with self.path.open(encoding=self._encoding, newline="") as file:
                self._rows = [row for row in csv.DictReader(file) if any(row.values())]
        return self._rows
''',
        290,
    ),
    "json": (
        """[{"order": 10000, "date": "2026-03-08", "region": "west", "amount": 492.09, "customer": "C-0379", "paid": true}, {"order": 10007, "date": "2026-03-03", "region": "west", "amount": 16.79, "customer": "C-0858", "paid": true}, {"order": 10014, "date": "2026-03-08", "region": "north", "amount": 896.1, "customer": "C-0482", "paid": true}, {"order": 10021, "date": "2026-03-28", "region": "north", "amount": 212.57, "customer": "C-0156", "paid": false}, {"order": 10028, "date": "2026-03-22", "region": "north", "amount": 147.66, "customer": null, "paid": true}, {"order": 10035, "date": "2026-03-01", "region": "south", "amount": 428.11, "customer": "C-0737", "paid": false}, {"order": 10042, "date": "2026-03-14", "region": "south", "amount": 656.67, "customer": "C-0591", "paid": false}, {"order": 10049, "date": "2026-03-05", "region": "south", "amount": 92.22, "customer": "C-0140", "paid": true}, {"order": 10056, "date": "2026-03-22", "region": "south", "amount": 702.18, "customer": "C-0876", "paid": true}, {"order": 10063, "date": "2026-03-27", "region": "south", "amount": 518.75, "customer": "C-0547", "paid": true}, {"order": 10070, "date": "2026-03-11", "region": "west", "amount": 824.58, "customer": "C-0030", "paid": false}, {"order": 10077, "date": "2026-03-22", "region": "west", "amount": 150.97, "customer": "C-0882", "paid": false}]""",
        527,
    ),
    "table": (
        """ order  region     amount  date
 10000  west       492.09  2026-03-08
 10007  west        16.79  2026-03-03
 10014  north      896.10  2026-03-08
 10021  north      212.57  2026-03-28
 10028  north      147.66  2026-03-22
 10035  south      428.11  2026-03-01
 10042  south      656.67  2026-03-14
 10049  south       92.22  2026-03-05
 10056  south      702.18  2026-03-22
 10063  south      518.75  2026-03-27
 10070  west       824.58  2026-03-11
 10077  west       150.97  2026-03-22""",
        203,
    ),
}
